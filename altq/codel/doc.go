// Package codel drops by how long packets wait: CoDel as the discipline of an
// interface, and as the policy of a class's queue (altq_codel.c; spec altq 2.6).
//
// When every packet of an interval had to wait longer than the target, one is
// dropped, and then more at intervals that shrink with the square root of their
// number, until a packet waited less.
//
// FreeBSD's count of queued packets drifts, since drops at the head do not lower
// it (quirk Q4); here they do. It also drops everything for ever if the first
// drop comes before an uptime of 16 intervals; here the control law starts sound.
package codel
