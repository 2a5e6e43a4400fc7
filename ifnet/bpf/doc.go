// Package bpf shows packets that pass an interface to listeners, through a filter, and
// writes them to capture files.
//
// Its counterpart is FreeBSD's sys/net/bpf.c. A [Listener] is what an open /dev/bpf is
// there: a filter program, a direction, a bounded store and counts. The packet is never
// changed; a VLAN tag that the hardware took out is put back in the listener's copy.
//
//	l, err := bpf.Open(k, ifp, bpf.Config{Filter: program, Promisc: true})
//	if err != nil {
//		return err
//	}
//	defer l.Close()
//	w, err := bpf.NewPcapWriter(file, bpf.DefaultSnapLen, bootTime)
//	for range l.Ready() {
//		if _, err := w.Drain(l); err != nil {
//			return err
//		}
//	}
package bpf
