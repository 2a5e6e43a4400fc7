// Package ifconfig8 is ifconfig(8) on the interfaces of a machine: options, the layout
// of what it shows, and its messages (spec ifnet 12.1). Its commands (up, mtu 9000,
// -tso, media, ...) are the machine's, which rc.conf has them from too.
//
//	exit := ifconfig8.Run(m, []string{"em0", "mtu", "9000", "up"}, os.Stdout, os.Stderr)
package ifconfig8
