package metrics

import (
	"encoding/binary"

	"github.com/ifsim/ifsim/sysctl"
)

// A device's numbers are read where sysctl(8) reads them: a variable that is being removed
// with its device is not there, and one that is read holds the removal up.

// leaf is a variable that is a metric.
type leaf struct {
	family
	name string // of the variable in its node
}

// leafFamilies are the families of variables.
func leafFamilies(leaves []leaf) []family {
	all := make([]family, len(leaves))
	for i, l := range leaves {
		all[i] = l.family
	}
	return all
}

// node finds a node, nil if there is none.
func (s *scrape) node(name string) *sysctl.OID {
	node, err := s.k.Sysctl.Lookup(name)
	if err != nil {
		return nil
	}
	return node
}

// children are the entries of a node by name.
func children(node *sysctl.OID) map[string]*sysctl.OID {
	if node == nil {
		return nil
	}
	byName := make(map[string]*sysctl.OID)
	for _, o := range node.Children() {
		byName[o.Name()] = o
	}
	return byName
}

// leaves shows those variables of a node that are metrics.
func (s *scrape) leaves(node *sysctl.OID, leaves []leaf, labels ...string) {
	byName := children(node)
	for _, l := range leaves {
		if v, ok := s.number(byName[l.name]); ok {
			s.put(l.family, v, labels...)
		}
	}
}

// number is the value of a variable; false if it is none, or there is none.
func (s *scrape) number(o *sysctl.OID) (value float64, ok bool) {
	if o == nil {
		return 0, false
	}
	kind := o.Kind()
	b, err := s.k.Sysctl.ReadOID(o)
	if err != nil || kind.Size() == 0 || len(b) != kind.Size() {
		return 0, false
	}
	return decode(kind, b), true
}

// decode is a number of a kind, extended by its sign.
func decode(kind sysctl.Kind, b []byte) float64 {
	var word [8]byte
	copy(word[:], b)
	v := binary.LittleEndian.Uint64(word[:])
	if !kind.Signed() {
		return float64(v)
	}
	unused := 64 - bitsPerByte*len(b)
	return float64(int64(v<<unused) >> unused)
}

// state is the text of a variable, "" if there is none.
func (s *scrape) state(o *sysctl.OID) string {
	if o == nil {
		return ""
	}
	b, err := s.k.Sysctl.ReadOID(o)
	if err != nil || len(b) == 0 {
		return ""
	}
	return string(b[:len(b)-1]) // without its NUL
}
