// Package dump8 is ifsim dump: the rings, registers and packet buffers of a machine, as
// package sight shows them.
//
//	exit := dump8.Run(m, []string{"em0"}, streams)
package dump8
