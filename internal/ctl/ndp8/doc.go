// Package ndp8 is ndp(8) on a machine: it shows, sets and deletes IPv6 neighbours, and the
// flags of neighbour discovery of interfaces. There are no advertisements of routers here:
// the list of routers is empty, and prefixes are those of addresses.
//
//	exit := ndp8.Run(ctx, k, []string{"-an"}, streams)
package ndp8
