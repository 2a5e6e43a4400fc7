// Package altq shapes what an interface sends: FreeBSD's ALTQ (sys/net/altq, spec
// altq). A packet filter writes a queue's number into the packet, a discipline
// decides which packet goes next, and a token bucket regulator decides when.
//
//	Transmit -> Queue.Enqueue -> Discipline.Enqueue      class by Mbuf.QID
//	start    -> Queue.Dequeue -> token bucket -> Discipline.Dequeue
//
// [Queue] is an interface's send queue (struct ifaltq): the states of ALTQ, the
// regulator, the 1 ms tick. [Discipline] is what decides; the packages below
// implement it: priq, cbq, hfsc, fairq, codel. [ClassQueue] holds one class's
// packets, and a [Policy] (RED, RIO, CoDel) says which of them to drop.
//
//	q := altq.NewQueue(altq.Env{Kernel: k, Start: start})
//	d, _ := priq.New(altq.Config{Bandwidth: 10e6, MTU: 1500})
//	_ = d.AddQueue(altq.QueueConfig{QID: 1, Priority: 7, Flags: altq.FlagDefault})
//	_ = q.Attach(d)
//	_ = q.Enable()
//	_ = q.SetTBR(altq.Profile{Rate: 10e6, Depth: altq.DefaultDepth(10e6, 1500)})
//
// A discipline has no lock and no clock of its own: the queue calls it with its
// lock held and says what time it is.
package altq
