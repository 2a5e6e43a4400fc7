// Package altqsim is a link on which disciplines are measured: sources send frames
// into an altq.Queue, the queue's regulator and tick let them out, and the wire
// below takes what comes at once. Time is simulated: 30 s pass in a moment, and a
// run repeats exactly (the harness of spec altq 6).
//
//	link := altqsim.New(k, discipline, altqsim.Config{Rate: 10e6, Depth: 6000})
//	defer link.Close()
//	a := link.Add(altqsim.Source{QID: 1, Size: 1514, Rate: 20e6})
//	link.Run(5 * time.Second)
//	link.Mark()
//	link.Run(25 * time.Second)
//	fmt.Println(a.Rate())
//
// One goroutine uses a link.
package altqsim
