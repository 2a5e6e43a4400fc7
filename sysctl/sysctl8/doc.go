// Package sysctl8 is sysctl(8): it reads, lists, describes and sets OIDs of a
// [sysctl.Tree] with FreeBSD's flags, layouts, messages and exit status (spec ifnet 4 and 5.1).
//
// It works as the tool does, through numbers and the queries below {0}, so what it prints is what the tree tells any program:
//
//	status := sysctl8.Run(tree, []string{"-n", "dev.em.0.fc=3"}, os.Stdout, os.Stderr)
//
// Of the structures the tool knows, S,vmtotal is shown as an unknown opaque, and -j is refused: there are no jails.
package sysctl8
