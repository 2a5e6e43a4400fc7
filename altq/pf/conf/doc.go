// Package conf reads pf.conf(5): macros, lists, includes, the altq and queue statements,
// and those filter rules that can be expressed with what this project's pf knows. Its
// counterpart is the half of FreeBSD's pfctl that works without the kernel (parse.y,
// pfctl_altq.c, and the printing functions of pfctl_parser.c; spec altq 4 and 5).
//
// Parse makes a [Config] of a text, or none at all: everything that is wrong is a
// [Message] with file, line and column and FreeBSD's wording. What FreeBSD has and this
// pf has not is a message that names it; with [Options.Lax] such a statement is left out
// as a whole and the rest is loaded.
//
//	cfg, msgs, ok := conf.Parse("/etc/pf.conf", text, conf.Options{Interface: ifaceOf})
//	for _, m := range msgs {
//		fmt.Fprintln(os.Stderr, m)
//	}
//
// Nothing here keeps state between calls; all functions may be called from any goroutine.
package conf
