// Package vmstat8 is vmstat(8) on a machine: its interrupts (-i) and its memory zones
// (-z), as spec ifnet 12.5 has them.
//
//	exit := vmstat8.Run(ctx, k, []string{"-i"}, streams)
package vmstat8
