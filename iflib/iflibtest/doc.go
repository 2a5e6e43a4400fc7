// Package iflibtest is the conformance suite of iflib: it runs a driver, one of this
// module or a stranger's, through the whole contract between a driver and the framework
// (docs/architecture.md, "The driver's contract"). FreeBSD has no counterpart.
//
// A test of a driver needs one call:
//
//	func TestConformance(t *testing.T) {
//		iflibtest.Run(t, func() iflibtest.Device {
//			return iflibtest.Device{Driver: &skel.Driver, Hardware: skelhw.New}
//		})
//	}
//
// Run boots machines with two such devices on one wire and judges what it sees, on every
// transmit path and both engines. Most machines are stepped, on a manual clock, with
// Invariants and hw.busdma.check=1, so that a failure repeats. Each [Rule] is a subtest;
// a failure names the rule, the queue and the descriptor, and shows the ring.
//
// It sees by two means. A spy stands between iflib and the driver (iflib.Wrapper): it
// forwards each call and compares what the contract promises with what the driver did and
// which locks are held. A gate stands between the hardware and the wire: closed, it keeps
// the hardware from completing anything.
//
// Some rules are watched in every run. When one of them breaks, the run names that rule and
// not its own: what else went wrong then is a consequence.
package iflibtest
