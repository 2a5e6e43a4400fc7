// Package sysctl is FreeBSD's management information base in user space: the
// kernel environment (kenv), the tree of OIDs with its numbering, handlers and
// order of checks, tunables fetched at registration, the parsers of
// loader.conf, device.hints and sysctl.conf, and FreeBSD's errno numbers and texts.
//
// FreeBSD counterpart: kern_sysctl.c, kern_environment.c, subr_hints.c, sysctl(9), kenv(2),
// and the loader's config.lua. Behaviour is that of spec ifnet 1 to 5. The
// command sysctl(8) is package sysctl8.
//
// A [Kenv] holds tunables, a [Tree] holds OIDs, a [Ctx] remembers what one owner added and takes it away again:
//
//	env := sysctl.NewKenv()
//	_ = env.Set("dev.em.0.fc", "0x3")
//	t := sysctl.NewTree(env, log.Printf)
//	c := t.NewCtx()
//	em0 := c.Node(c.Node(t.Dev(), "em", sysctl.RD, ""), "0", sysctl.RD, "")
//	var fc atomic.Int32
//	c.Int(em0, "fc", sysctl.RWTUN, &fc, "flow control mode")
//	fc.Load()                          // 3, from the environment
//	err := t.SetText("dev.em.0.fc", "1")
//	_ = c.Free()
//
// The value of a plain knob is an atomic that belongs to the caller: reading it
// never touches the tree. Handlers run without the tree's lock, and removing
// an OID waits for the handlers that are running on it.
package sysctl
