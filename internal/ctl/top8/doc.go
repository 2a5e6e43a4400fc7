// Package top8 is ifsim top: what the queues, CPUs, interrupts and packet buffers of a
// machine do, report after report. The head is laid out as top(1)'s.
//
//	exit := top8.Run(ctx, m, []string{"-b", "-n", "2"}, streams)
package top8
