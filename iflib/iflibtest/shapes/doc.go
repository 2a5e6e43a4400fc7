// Package shapes makes packets of every shape together with the frames that they shall
// become on a wire, as gopacket serialises them, and cuts them into chains of buffers. The
// conformance suite (iflibtest) and iflib's own tests share it. FreeBSD has no counterpart.
//
//	s := shapes.Spec{TCI: -1, Payload: shapes.Random(1, 4000), MSS: 1000, Offload: shapes.OffloadIP | shapes.OffloadL4}
//	p := s.Packet(dst, src)
//	m := p.Mbuf(cache, shapes.Pieces(54, 1000))
//	... // transmit m, and compare what arrives with p.Want
package shapes
