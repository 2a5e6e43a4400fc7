// Package probe marks the steps of the data path, so that one packet can be
// watched from if_transmit to the wire and back. It stands for FreeBSD's SDT
// probes and dtrace(1): a point is provider:module:name, where the module is the
// device that fires.
//
// A set of points that is off costs one atomic load and one branch a point. On,
// events go to bounded rings, where a full ring counts what it drops, or to a
// Sink that is called at once, which is what the stepped executor uses.
//
//	var probeEncap = probe.Define("iflib", "txd-encap", "pidx", "nsegs")
//
//	if k.Probes.On() {
//		k.Probes.Fire2(probeEncap, "em0", 0, uint64(pidx), uint64(nsegs))
//	}
//
//	k.Probes.Enable(nil)
//	...
//	k.Probes.Drain(func(e probe.Event) { events = append(events, e) })
//	probe.WriteText(os.Stdout, events)
package probe
