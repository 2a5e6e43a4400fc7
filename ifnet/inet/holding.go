package inet

import "github.com/ifsim/ifsim/ifnet/mbuf"

var _ mbuf.Holder = (*stack)(nil)

// Holding implements [mbuf.Holder]: packets that wait for the link address of a neighbour
// (la_hold).
func (s *stack) Holding(v mbuf.Visit) {
	if !v.Try(s.mu.TryLock) {
		v.Busy("neighbours")
		return
	}
	defer s.mu.Unlock()
	for _, i := range *s.ifs.Load() {
		if i == nil {
			continue
		}
		for _, table := range [...]struct {
			name string
			t    *nbTable
		}{{"ARP", &i.nb4}, {"neighbour discovery", &i.nb6}} {
			for _, e := range table.t.all() {
				v.List(i.ifp.Name()+" "+table.name+" of "+e.addr.String(), e.hold)
			}
		}
	}
}
