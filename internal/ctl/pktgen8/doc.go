// Package pktgen8 generates, counts and returns frames on the NICs of a machine: netmap's
// pkt-gen(8), with packets of mbufs through [ifnet.Ifnet.Transmit] where pkt-gen fills the
// slots of a ring.
//
// A [Pktgen] serves one machine. [Pktgen.Run] is the command with pkt-gen's options and
// output, [Pktgen.Do] one run told by [Params]:
//
//	g := pktgen8.New(m)
//	res, err := g.Do(ctx, pktgen8.Params{Interface: "em0", Frames: 1000, Rate: 1e5}, nil, nil)
//
// A run is a job: tx.go sends from several threads, rx.go counts with a tap, ping.go and
// pong.go measure round trips. Time is the machine's: pace, durations and round trips are
// the same on a manual clock. What waits for hardware (a link, room in a ring, the last
// frame to leave) waits on the host's clock, since it waits for other goroutines.
package pktgen8
