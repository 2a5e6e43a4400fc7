// Package devctl8 is devctl(8) on the NICs of a machine. A device that is detached and
// attached again reads its tunables anew, so that a read-only tunable changes without a
// boot:
//
//	devctl8.Run(m, []string{"detach", "igb0"}, os.Stderr)
//	kenv8.Run(m.Kernel().Env, []string{"dev.igb.0.iflib.simple_tx=1"}, os.Stdout, os.Stderr)
//	devctl8.Run(m, []string{"attach", "igb0"}, os.Stderr)
package devctl8
