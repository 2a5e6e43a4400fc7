package altq

import "github.com/ifsim/ifsim/ifnet/mbuf"

// ClassTable finds a discipline's classes by their number, in one load: numbers
// are small, since they count from 1 (the clh_to_clp of each discipline).
type ClassTable[T any] struct {
	byQID []*T
	// Default is the class of packets without one of their own, nil for none.
	Default *T
}

// Find is the class of that number, nil if there is none; 0 is no number.
func (t *ClassTable[T]) Find(qid QID) *T {
	if int(qid) >= len(t.byQID) {
		return nil
	}
	return t.byQID[qid]
}

// For is the class of a packet: that of its number or the default, nil if there is
// neither.
func (t *ClassTable[T]) For(m *mbuf.Mbuf) *T {
	if cl := t.Find(m.QID); cl != nil {
		return cl
	}
	return t.Default
}

// Add puts a class in.
func (t *ClassTable[T]) Add(qid QID, cl *T) {
	if n := int(qid) + 1 - len(t.byQID); n > 0 {
		t.byQID = append(t.byQID, make([]*T, n)...)
	}
	t.byQID[qid] = cl
}
