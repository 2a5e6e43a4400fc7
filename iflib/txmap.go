package iflib

import (
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// txMaps are the DMA maps of one tag of a queue. FreeBSD gives every slot a map
// of each tag; here a load uses the spare map, and only a load that leaves
// something to undo keeps its map in the slot, so that the common packet
// touches no map of its own. Owner only.
type txMaps struct {
	tag     *busdma.Tag
	maxSegs int
	spare   *busdma.Map
	idle    []*busdma.Map // maps that came back from slots
}

// Indices of Txq.maps.
const (
	mapsNormal = iota
	mapsTSO
)

func newTxMaps(tag *busdma.Tag, maxSegs int) txMaps {
	return txMaps{tag: tag, maxSegs: maxSegs, spare: tag.NewMap()}
}

// mapsOf returns the maps for the packet's tag.
func (q *Txq) mapsOf(m *mbuf.Mbuf) *txMaps {
	if m.Pkt.CsumFlags&mbuf.CsumTSO != 0 && q.maps[mapsTSO].tag != nil {
		return &q.maps[mapsTSO]
	}
	return &q.maps[mapsNormal]
}

// bind keeps the spare map in the slot if its load must be undone later.
func (q *Txq) bind(slot *txSlot, t *txMaps) {
	mp := t.spare
	if !q.keepMaps && mp.Bounced() == 0 {
		mp.Unload()
		return
	}
	slot.mp = mp
	if n := len(t.idle); n > 0 {
		t.spare, t.idle = t.idle[n-1], t.idle[:n-1]
		return
	}
	t.spare = t.tag.NewMap()
}

// unload undoes the load of the packet m, whose map is in slot.
func (q *Txq) unload(slot *txSlot, m *mbuf.Mbuf) {
	if slot.mp == nil {
		return
	}
	slot.mp.Unload()
	t := q.mapsOf(m)
	t.idle = append(t.idle, slot.mp)
	slot.mp = nil
}

// destroy gives the maps back; every slot has been unloaded.
func (t *txMaps) destroy() {
	if t.spare == nil {
		return
	}
	for _, mp := range append(t.idle, t.spare) {
		// Nothing is loaded, so a map cannot be busy.
		_ = mp.Destroy()
	}
	*t = txMaps{}
}
