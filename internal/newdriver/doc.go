// Package newdriver writes the beginning of a driver: a copy of drivers/skel, its
// constants, its hardware and its tests, with a command that boots a machine (skelboot),
// under another name and in a module of one's own. The copy is made of the sources that
// this program was built with, so it is as good as they are. FreeBSD's counterpart is a
// directory that one copies by hand.
//
//	files, err := newdriver.Write(newdriver.Options{Name: "foo", Dir: ".", Replace: "/src/ifsim"})
package newdriver
