package cqhw_test

import (
	"bytes"
	"testing"

	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqreg"
	"github.com/ifsim/ifsim/internal/testnic/nicreg"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

func TestSmallFrameTakesOneBuffer(t *testing.T) {
	q := newRx(t, 0, 16, 16, 16)
	q.fill(0, 2)
	q.fill(1, 2)
	f := rig.Ether(300)
	q.Inject(f)
	w0, w1 := q.cq.get(0)
	if w0 != 300|0<<cqreg.RxcSlotShift {
		t.Errorf("word 0 is %#x", w0)
	}
	if want := uint64(cqreg.CqePhase | cqreg.CqeTypeRx<<cqreg.CqeTypeShift | 300<<cqreg.RxcFirstShift); w1 != want {
		t.Errorf("word 1 is %#x, want %#x", w1, want)
	}
	if got := q.Bytes(q.bufs[0][0], 300); !bytes.Equal(got, f) {
		t.Error("the buffer does not hold the frame")
	}
	if q.stat(nicreg.StatRxFrames) != 1 || q.stat(nicreg.StatRxBytes) != 300 {
		t.Errorf("%d frames, %d bytes counted", q.stat(nicreg.StatRxFrames), q.stat(nicreg.StatRxBytes))
	}
}

func TestLargeFrameGoesOnInAggregationBuffers(t *testing.T) {
	q := newRx(t, 0, 16, 16, 16)
	q.fill(0, 3)
	q.fill(1, 9)
	q.Inject(rig.Ether(60)) // slots need not be those of the ring's start
	f := rig.Ether(rxBufs*3 + 5)
	q.Inject(f)
	w0, w1 := q.cq.get(1)
	if w0 != uint64(len(f))|1<<cqreg.RxcSlotShift {
		t.Errorf("word 0 is %#x", w0)
	}
	if n := w1 >> cqreg.RxcAggShift & cqreg.RxcAggMask; n != 3 {
		t.Fatalf("%d aggregation entries announced, want 3", n)
	}
	got := append([]byte(nil), q.Bytes(q.bufs[0][1], rxBufs)...)
	for i, want := range []int{rxBufs, rxBufs, 5} {
		a0, a1 := q.cq.get(2 + i)
		slot := int(a0 >> cqreg.RxaSlotShift)
		if a1 != cqreg.CqePhase|cqreg.CqeTypeAgg<<cqreg.CqeTypeShift || int(a0&cqreg.RxaLenMask) != want || slot != 100+i {
			t.Errorf("aggregation entry %d is %#x %#x", i, a0, a1)
		}
		got = append(got, q.Bytes(q.bufs[1][slot], want)...)
	}
	if !bytes.Equal(got, f) {
		t.Error("the buffers do not make up the frame")
	}
}

func TestHashChecksumAndTagAreReported(t *testing.T) {
	q := newRx(t, cqreg.CtrlVLANTake|cqreg.CtrlRxCsum, 16, 16, 16)
	key := []uint32{0xda565a6d, 0xc20e5b25, 0x3d256741, 0xb08fa343, 0xcb2bcad0, 0xb4307bae, 0xa32dcb77, 0x0cf23080, 0x3bb7426a, 0xfa01acbe}
	for i, k := range key {
		q.BAR.Write32(cqreg.RSSKEY+4*uint64(i), k)
	}
	q.BAR.Write32(cqreg.RSSCTL, 1)
	q.fill(0, 4)
	f := rig.TCP(100, false, false)
	q.Inject(rig.Tagged(f, 0xa064))
	bad := rig.Tagged(f, 0)
	bad[len(bad)-1] ^= 1
	q.Inject(bad)
	w0, w1 := q.cq.get(0)
	if hash := w0 >> cqreg.RxcHashShift; hash != 0x51ccc178 {
		t.Errorf("hash %#x, want 0x51ccc178", hash)
	}
	const common = cqreg.CqePhase | cqreg.CqeTypeRx<<cqreg.CqeTypeShift | nicreg.RxVLAN<<cqreg.RxcFlagsShift | nicreg.RxIPChecked<<cqreg.RxcFlagsShift |
		nicreg.RxL4Checked<<cqreg.RxcFlagsShift | nicreg.RSSTCPIPv4<<cqreg.RxcHashTyShift | 154<<cqreg.RxcFirstShift
	if want := uint64(common | 0xa064<<cqreg.RxcTCIShift); w1 != want {
		t.Errorf("word 1 is %#x, want %#x", w1, want)
	}
	if !bytes.Equal(q.Bytes(q.bufs[0][0], len(f)), f) {
		t.Error("the tag was not taken out")
	}
	if _, w1 := q.cq.get(1); w1 != common|nicreg.RxL4Bad<<cqreg.RxcFlagsShift {
		t.Errorf("word 1 of the bad one is %#x, want %#x", w1, uint64(common|nicreg.RxL4Bad<<cqreg.RxcFlagsShift))
	}
}

func TestFrameWithoutBuffersIsMissedAndNotedOnce(t *testing.T) {
	q := newRx(t, 0, 16, 16, 16)
	q.fill(0, 1)
	q.fill(1, 1)
	q.Inject(rig.Ether(3*rxBufs), rig.Ether(3*rxBufs)) // list 1 is too short
	q.Inject(rig.Ether(60))                            // takes the only buffer of list 0
	q.Inject(rig.Ether(60), rig.Ether(60))             // list 0 is dry
	if n := q.stat(nicreg.StatRxMissed); n != 4 {
		t.Errorf("%d missed, want 4", n)
	}
	const note = cqreg.CqePhase | cqreg.CqeTypeNote<<cqreg.CqeTypeShift
	for n, want := range map[int][2]uint64{0: {1, note}, 2: {0, note}} {
		if w0, w1 := q.cq.get(n); w0 != want[0] || w1 != want[1] {
			t.Errorf("entry %d is %#x %#x, want a note for list %d", n, w0, w1, want[0])
		}
	}
	if q.cq.valid(3) {
		t.Error("more than one note was written")
	}
	q.fill(0, 1)
	q.Inject(rig.Ether(60), rig.Ether(60))
	if w0, _ := q.cq.get(4); !q.cq.valid(4) || w0 != 0 {
		t.Error("no new note after the tail was written")
	}
}

func TestFullCompletionQueueMissesFramesAndGoesOn(t *testing.T) {
	q := newRx(t, 0, 16, 64, 16)
	q.fill(0, 63)
	for range 20 {
		q.Inject(rig.Ether(60))
	}
	if got, missed := q.stat(nicreg.StatRxFrames), q.stat(nicreg.StatRxMissed); got != 16 || missed != 4 {
		t.Fatalf("%d delivered, %d missed; want 16 and 4", got, missed)
	}
	q.BAR.Write32(reg(0, cqreg.RXCQCONS), 16)
	q.Inject(rig.Ether(60))
	if !q.cq.valid(16) {
		t.Error("nothing delivered after the entries were consumed")
	}
}

func TestAddressFilter(t *testing.T) {
	group := [6]byte{0x01, 0x00, 0x5e, 0, 0, 0x05}
	other := [6]byte{0x02, 0, 0, 0, 0, 0x99}
	const bucket = 1 << 57 // CRC-32 of the group is 0xe7809b7b
	for _, c := range []struct {
		name   string
		dst    [6]byte
		ctrl   uint32
		filter uint64
		want   uint64
	}{
		{"own", rig.MAC, 0, 0, 1},
		{"broadcast", [6]byte{255, 255, 255, 255, 255, 255}, 0, 0, 1},
		{"other", other, 0, 0, 0},
		{"other, promiscuous", other, cqreg.CtrlPromisc, 0, 1},
		{"group", group, 0, ^uint64(bucket), 0},
		{"group, in filter", group, 0, bucket, 1},
		{"group, all", group, cqreg.CtrlAllMulti, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := newRx(t, c.ctrl, 16, 16, 16)
			q.fill(0, 2)
			q.BAR.Write32(cqreg.MCHLO, uint32(c.filter))
			q.BAR.Write32(cqreg.MCHHI, uint32(c.filter>>32))
			f := rig.Ether(60)
			copy(f, c.dst[:])
			q.Inject(f)
			if got := q.stat(nicreg.StatRxFrames); got != c.want || q.stat(nicreg.StatRxFilter) != 1-c.want {
				t.Errorf("%d delivered, %d filtered", got, q.stat(nicreg.StatRxFilter))
			}
		})
	}
}

func TestFramesAreDroppedAndCountedWhenTheyCannotBeDelivered(t *testing.T) {
	q := newRx(t, 0, 16, 16, 16)
	q.BAR.Write32(cqreg.MAXFRM, 1514)
	q.fill(0, 1)
	q.Inject(rig.Ether(1515))
	if n := q.stat(nicreg.StatRxErrors); n != 1 {
		t.Errorf("%d errors for a frame too long, want 1", n)
	}
	q.fl[0].set(0, 1<<40, rxBufs<<cqreg.FldSizeShift)
	q.Inject(rig.Ether(60))
	if n := q.stat(nicreg.StatRxErrors); n != 2 {
		t.Errorf("%d errors after a DMA fault, want 2", n)
	}
	q.fl[0].set(0, uint64(q.bufs[0][0]), 255<<cqreg.FldSizeShift)
	q.Inject(rig.Ether(60))
	if n := q.stat(nicreg.StatRefused); n != 1 {
		t.Errorf("%d refusals after a buffer of 255 bytes, want 1", n)
	}
	if q.cq.valid(0) {
		t.Error("a completion was written")
	}
	q.BAR.Write32(cqreg.CTRL, 0)
	q.Inject(rig.Ether(60))
	if n := q.stat(nicreg.StatRxFilter); n != 1 {
		t.Errorf("%d filtered with the receiver off, want 1", n)
	}
}

func TestSteadyReceiveAllocatesNothing(t *testing.T) {
	q := newRx(t, cqreg.CtrlRxCsum, 16, 16, 16)
	q.fill(0, 15)
	q.fill(1, 15)
	f := rig.TCP(900, false, false)
	n := uint32(0)
	receive := func() {
		q.Inject(f)
		n++
		q.BAR.Write32(reg(0, cqreg.RXCQCONS), 2*n)
		q.BAR.Write32(reg(0, cqreg.RXFL0TAIL), (15+n)%16)
		q.BAR.Write32(reg(0, cqreg.RXFL1TAIL), (15+n)%16)
	}
	for i := range 16 { // every slot has a buffer
		for l := range q.fl {
			q.fl[l].set(i, uint64(q.bufs[l][100*l]), rxBufs<<cqreg.FldSizeShift)
		}
	}
	for range 20 {
		receive()
	}
	const bench = 3 // what Inject itself allocates
	if got := testing.AllocsPerRun(20, receive); got > bench {
		t.Errorf("%v allocations a frame, of which the bench makes at most %d", got, bench)
	}
	if q.stat(nicreg.StatRxFrames) != uint64(n) {
		t.Errorf("%d of %d frames delivered", q.stat(nicreg.StatRxFrames), n)
	}
}
