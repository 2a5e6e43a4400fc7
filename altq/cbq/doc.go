// Package cbq is class-based queueing (altq_cbq.c, altq_rmclass.c; spec altq 2.2):
// a tree of classes, each with a share of the link. An estimator measures by the
// time between packets whether a class keeps to its share. One that does not may
// borrow from its parent, if it is allowed to and the parent keeps to its own
// share; else it is suspended for a while, and a timer wakes it. Among the classes
// of the highest priority that may send, weighted round robin chooses.
//
// Times are in microseconds since boot, as FreeBSD's estimator has them, and its
// roundings are kept: shares come out as there, some tenths of a percent off.
package cbq
