// Package pfctl8 is pfctl(8) on a machine's packet filter: it loads pf.conf, enables and
// disables, and shows queues and rules with their counters, measured rates among them
// (spec altq 5).
//
//	exit := pfctl8.Run(ctx, k, []string{"-s", "queue", "-v"}, tool.IO{Stdout: os.Stdout, Stderr: os.Stderr, Open: open})
//
// Beside FreeBSD's flags there are -o lax, which leaves out what this machine's pf does
// not have, and -o json.
package pfctl8
