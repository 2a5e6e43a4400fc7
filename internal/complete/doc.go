// Package complete finds what the last word of a tool's command line may become: names of
// variables, interfaces and devices of a running machine. A shell's completion and
// `ifsim shell` use it; FreeBSD's counterpart is tcsh's complete.
//
//	choice := complete.Tool(ask, "sysctl", []string{"-d"}, "dev.em.")
//
// It asks the machine's own tools. What they do not tell is not offered.
package complete
