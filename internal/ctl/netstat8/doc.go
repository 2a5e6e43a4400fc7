// Package netstat8 is netstat(8) on a machine: the table of interfaces of -i and -I (spec
// ifnet 12.2), what they count in each interval with -w (12.3), packet buffers with -m
// (12.4), and the listeners of the taps with -B. Addresses are shown as numbers, with -n
// or without.
//
//	exit := netstat8.Run(ctx, k, []string{"-I", "em0", "-bd"}, streams)
package netstat8
