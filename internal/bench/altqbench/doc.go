// Package altqbench asks whether ALTQ still works: it runs each discipline on links
// whose theory is known and compares.
//
// There are two parts. On simulated links (package altqsim) time is not the host's, so
// every figure repeats and tolerances are those of spec altq 6.2. On wires, pairs of veth
// interfaces, a machine sends with a NIC's driver for some seconds of real time, and what
// arrives is counted by the host's kernel at the other end. A host that stalls meanwhile
// loses tokens of the regulator, which counts them, so that a stall and a wrong rate are
// told apart.
//
//	res, err := altqbench.Run(ctx, altqbench.Options{}, []string{"ifsim", altqbench.WireCommand})
//	err = res.WriteTable(os.Stdout)
//	err = res.Draw("altq") // altq.png and altq.svg
//
// Scenarios are configurations of pf.conf with what senders offer and what they should
// get.
package altqbench
