//go:build !amd64 || race

package mpring

import "github.com/ifsim/ifsim/ifnet/mbuf"

// fill is put for a producer whose next step is a compare and swap of the state.
func (r *Ring) fill(i uint32, m *mbuf.Mbuf) { r.put(i, m) }
