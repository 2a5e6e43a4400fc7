// Package ab compares values of a machine's knobs: machines that differ in nothing else run
// the same benchmark in turns, and statistics tell whether the difference is more than
// chance (internal/bench/stat). A knob is any tunable or variable, of a device or global.
//
//	arms, err := ab.Parse([]string{"dev.em.0.iflib.simple_tx=0,1"})
//	res, err := ab.Tx(arms, bench.TxOptions{Producers: []int{1}})
//	err = res.WriteTable(os.Stdout)
package ab
