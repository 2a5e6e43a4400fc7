// Package netstat8 is netstat(8) on the interfaces of a machine: the table of -i and -I
// (spec ifnet 12.2). Addresses are shown as numbers, with -n or without.
//
//	exit := netstat8.Run(k, []string{"-I", "em0", "-bd"}, os.Stdout, os.Stderr)
package netstat8
