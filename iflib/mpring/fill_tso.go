//go:build amd64 && !race

package mpring

import "github.com/ifsim/ifsim/ifnet/mbuf"

// fill is put for a producer whose next step is a compare and swap of the state. That
// orders the store before what the producer reads, whether it succeeds or not, and on
// this CPU no store overtakes an earlier one: who sees the item sees what is in it.
func (r *Ring) fill(i uint32, m *mbuf.Mbuf) { r.slots[i] = m }
