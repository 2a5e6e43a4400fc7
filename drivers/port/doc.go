// Package port is what a NIC is plugged into: the far side of the connector on the
// card. A hardware model hands a [Port] gather lists of its DMA memory and is lent the
// frames that arrive; it filters, hashes, pads, tags and checksums itself. A port
// delivers and takes exact wire bytes without FCS (spec ports 9.2, rule 4).
//
// FreeBSD has no counterpart: there the cable is real. The kinds live in packages of
// their own: null (discards and counts), pair (a wire between two NICs), packet (a
// Linux interface). A machine opens them by name through the [Fabric] it was given:
//
//	f := port.NewFabric(null.Kind(), pair.Kind())
//	p, err := f.Open("pair:wire0")
//	...
//	err = p.Bind(nic)               // nic is a port.Client
//	n := p.Send(0, frames)          // n < len(frames): full, wait for nic.TxReady(0)
//	done := p.Completed(0)          // a copying port completes at once
//	for n := p.Recv(0, rx); n > 0; n = p.Recv(0, rx) {
//		// use rx[:n]
//		p.Release(0, n)
//	}
package port
