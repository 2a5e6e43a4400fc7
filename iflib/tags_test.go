package iflib_test

import (
	"bytes"
	"testing"

	"github.com/ifsim/ifsim/iflib/iflibtest/shapes"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
)

// tagIsNotInsertedTwice is case 22: the tag is in the frame, and the flag of the
// tag beside it was left on.
func tagIsNotInsertedTwice(t *testing.T, w *wire) {
	for _, off := range []ifnet.Caps{0, ifnet.CapVLANHWTag} {
		w.caps(0, off)
		dst, src := w.macs()
		p := shapes.Raw(dst, src, shapes.Random(1, 100), 0xa064, true)
		m := w.mbuf(p, nil)
		m.Flags |= mbuf.FlagVLANTag
		m.Pkt.EtherVtag = 0
		w.must(w.ifp[0].OutputFrame(w.cache, m))
		w.settle()
		w.check(p)
	}
}

// tagStaysInTheFrameWithoutTagTaking is case 21: with hardware tagging off a tagged
// frame has its tag once, in the frame.
func tagStaysInTheFrameWithoutTagTaking(t *testing.T, w *wire) {
	w.caps(0, ifnet.CapVLANHWTag)
	dst, src := w.macs()
	p := shapes.Raw(dst, src, make([]byte, 100), 1001, true)
	w.must(w.ifp[0].Transmit(w.mbuf(p, nil)))
	w.settle()
	got := w.take(1)
	if len(got) != 1 {
		t.Fatalf("%d frames", len(got))
	}
	a := got[0]
	if a.flags&mbuf.FlagVLANTag != 0 || !bytes.Equal(a.data, p.Want[0]) || bytes.Count(a.data, []byte{0x81, 0}) != 1 {
		t.Errorf("flags %#x, %x", a.flags, a.data)
	}
}

// tagIsTakenOutOfTheFrame is the same with hardware tagging on: the tag is beside
// the frame, also number 0 with a priority.
func tagIsTakenOutOfTheFrame(t *testing.T, w *wire) {
	dst, src := w.macs()
	for _, tci := range []int{0, 1, 0xe000, 0xffff} {
		for _, inline := range []bool{false, true} {
			w.must(w.ifp[0].Transmit(w.mbuf(shapes.Raw(dst, src, make([]byte, 100), tci, inline), nil)))
			w.settle()
			got := w.take(1)
			if len(got) != 1 {
				t.Fatalf("%d frames", len(got))
			}
			if a := got[0]; a.flags&mbuf.FlagVLANTag == 0 || int(a.vtag) != tci || len(a.data) != shapes.EtherHdr+100 {
				t.Errorf("tag %#x inline %v: flags %#x tag %#x, %d bytes", tci, inline, a.flags, a.vtag, len(a.data))
			}
		}
	}
}
