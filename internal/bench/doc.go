// Package bench runs the project's experiments. Its first is the question that
// the project was born from: which transmit path feeds one NIC queue from many
// CPUs more efficiently, mp_ring or simple_tx?
//
// What is compared runs in one process in short slices that take turns, since a
// shared host changes its speed by more than the paths differ. Every slice times
// a calibration loop and bounces a cache line between CPUs; a slice during which
// the host was busy is run again. Figures are medians over the rounds, ratios
// are medians of the ratios of a round.
package bench
