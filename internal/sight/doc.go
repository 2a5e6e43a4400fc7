// Package sight shows what a machine's NICs and memory hold: descriptor rings word by
// word with whose each descriptor is, registers by name, and who has every packet buffer
// that is in use. FreeBSD has pieces of it: the reg_dump and rs_dump sysctls of its
// drivers, "show mbuf" and "show uma" of ddb(4).
//
//	d := sight.Take(k, []*iflib.Ctx{m.Ctx("em0")}, true)
//	err := d.Write(os.Stdout, false)
//
// [Crash] writes it by itself when a driver breaks its contract, or the machine panics.
package sight
