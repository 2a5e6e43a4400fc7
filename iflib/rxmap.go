package iflib

import (
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// rxMaps are the DMA maps of a queue's receive buffers. As on the transmit side
// a load uses the spare map, and only a load that leaves something to undo
// keeps its map in the slot. Owner only.
type rxMaps struct {
	tag   *busdma.Tag
	keep  bool // checking mode: every load stays bound to its slot
	spare *busdma.Map
	idle  []*busdma.Map // maps that came back from slots
	seg   [1]busdma.Seg
}

func newRxMaps(ctx *Ctx) rxMaps {
	return rxMaps{tag: ctx.rxTag, keep: busdma.Checking(ctx.k), spare: ctx.rxTag.NewMap()}
}

// load maps the data of m for the device and sets the slot's address. False if
// that cannot be done now.
func (t *rxMaps) load(s *rxSlot, m *mbuf.Mbuf) bool {
	segs, err := t.tag.LoadMbuf(t.spare, m, t.seg[:], busdma.FromDevice)
	if err != nil || segs != 1 {
		t.spare.Unload()
		return false
	}
	s.addr = t.seg[0].Addr
	if !t.keep && t.spare.Bounced() == 0 {
		t.spare.Unload()
		return true
	}
	s.mp = t.spare
	if i := len(t.idle); i > 0 {
		t.spare, t.idle = t.idle[i-1], t.idle[:i-1]
		return true
	}
	t.spare = t.tag.NewMap()
	return true
}

// unload ends the device's access to a slot's buffer; what the device wrote is
// then in it.
func (t *rxMaps) unload(s *rxSlot) {
	if s.mp == nil {
		return
	}
	s.mp.Unload()
	t.idle = append(t.idle, s.mp)
	s.mp = nil
}

// destroy gives the maps back; every slot has been unloaded.
func (t *rxMaps) destroy() {
	if t.spare == nil {
		return
	}
	for _, mp := range append(t.idle, t.spare) {
		// Nothing is loaded, so a map cannot be busy.
		_ = mp.Destroy()
	}
	*t = rxMaps{}
}
