// Package red drops early: RED with ECN marking, and RIO (altq_red.c, altq_rio.c;
// spec altq 2.5). Both are policies for the queue of a class.
//
// RED keeps a moving average of the queue's length. Below the low threshold
// nothing is dropped, above the high one everything, and between them packets
// are dropped at even gaps that grow shorter as the average grows.
//
// Two quirks are FreeBSD's. PRIQ, HFSC and FAIRQ pass nanoseconds where RED wants
// microseconds, so the weight of the average is 1/64 below 600 Mb/s (Q2). And an
// idle queue's average decays as if the weight were always 1/512 (Q3).
package red
