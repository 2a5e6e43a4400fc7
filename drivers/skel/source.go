package skel

import "embed"

// Source is the source of this package and of the two below it, tests included: what
// `ifsim newdriver` makes a new driver of.
//
//go:embed README.md *.go skelreg/*.go skelhw/*.go
var Source embed.FS
