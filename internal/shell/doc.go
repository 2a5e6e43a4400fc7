// Package shell is the root shell of a machine's console, as far as it is needed there: it
// takes lines apart as sh(1) does, runs a machine's tools, and reads lines from a terminal
// with editing, history and completion, or from anything else one after the other.
//
//	s := &shell.Shell{Run: run, Commands: names, Stdout: os.Stdout, Stderr: os.Stderr}
//	exit := s.Loop(ctx, shell.NewReader(os.Stdin))
//
// Of sh's grammar it has words with quotes, comments, $?, and lists of commands with ; and
// && and ||. What follows a | or > is the host's: its sh gets the output.
package shell
