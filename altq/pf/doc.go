// Package pf is the part of FreeBSD's packet filter (sys/netpfil/pf) that gives packets
// their queues: rules with last match and quick, states, and the commit of ALTQ's
// disciplines (pf_altq.c; spec altq 1.2, 3). It runs at the hooks of [ifnet.Pfil] and
// changes nothing of a packet but its queue number; block rules drop.
//
//	_ = pf.Init(k)
//	p, _ := pf.Of(k)
//	cfg, msgs, ok := p.Parse("/etc/pf.conf", text, conf.Options{})
//	err := p.Load(cfg)
//	err = p.Enable()
//
// A packet loads the rules, which never change, with one atomic load, and locks one of
// many shards of the state table. [conf] reads the text.
package pf
