package hwbhw_test

import (
	"bytes"
	"testing"

	"github.com/ifsim/ifsim/internal/testnic/hwbnic/hwbreg"
	"github.com/ifsim/ifsim/internal/testnic/nicreg"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

func TestFrameFillsAsManyBuffersAsItNeeds(t *testing.T) {
	b := newBench(t)
	b.receiver(t, 0)
	b.fill(6)
	b.Inject(rig.Ether(60))
	f := rig.Ether(2*rxBufs + 7)
	b.Inject(f)
	if _, w1 := b.written(0); w1 != 60|hwbreg.RxdDone|hwbreg.RxdEOP {
		t.Errorf("first word 1 is %#x", w1)
	}
	var got []byte
	for i, want := range []uint64{rxBufs | hwbreg.RxdDone, rxBufs | hwbreg.RxdDone, 7 | hwbreg.RxdDone | hwbreg.RxdEOP} {
		_, w1 := b.written(1 + i)
		if w1 != want {
			t.Errorf("descriptor %d: word 1 is %#x, want %#x", 1+i, w1, want)
		}
		got = append(got, b.Bytes(b.bufs[1+i], int(w1&hwbreg.RxdLenMask))...)
	}
	if !bytes.Equal(got, f) {
		t.Error("the buffers do not make up the frame")
	}
	if v := b.BAR.Read32(reg(0, hwbreg.RXHEAD)); v != 4 {
		t.Errorf("RXHEAD is %d, want 4", v)
	}
}

func TestReceiveRingWraps(t *testing.T) {
	b := newBench(t)
	b.receiver(t, 0)
	b.fill(ringSize - 1)
	for n := range 4 * ringSize {
		f := rig.Ether(60 + n)
		b.Inject(f)
		i := n % ringSize
		if _, w1 := b.written(i); w1 != uint64(len(f))|hwbreg.RxdDone|hwbreg.RxdEOP {
			t.Fatalf("frame %d: word 1 is %#x", n, w1)
		}
		if !bytes.Equal(b.Bytes(b.bufs[i], len(f)), f) {
			t.Fatalf("frame %d is not in its buffer", n)
		}
		b.fill(1)
	}
}

func TestFrameWithoutDescriptorsIsMissed(t *testing.T) {
	b := newBench(t)
	b.receiver(t, 0)
	b.fill(2)
	b.Inject(rig.Ether(3*rxBufs), rig.Ether(60), rig.Ether(60), rig.Ether(60))
	if got, missed := b.stat(nicreg.StatRxFrames), b.stat(nicreg.StatRxMissed); got != 2 || missed != 2 {
		t.Errorf("%d delivered, %d missed; want 2 and 2", got, missed)
	}
}

func TestHashChecksumAndTagAreReported(t *testing.T) {
	b := newBench(t)
	b.receiver(t, hwbreg.RxModeVLANTake|hwbreg.RxModeCsum)
	key := []byte{
		0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
		0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
	}
	b.run(t, hwbreg.OpRSS, uint64(b.Buffer(append(key, make([]byte, nicreg.RETAEntries)...))), hwbreg.RSSBytes, hwbreg.AdmOK)
	b.fill(4)
	f := rig.TCP(100, false, false)
	b.Inject(rig.Tagged(f, 0xa064))
	w0, w1 := b.written(0)
	if want := uint64(0x51ccc178 | 0xa064<<hwbreg.RxdTCIShift | nicreg.RSSTCPIPv4<<hwbreg.RxdHashTyShift); w0 != want {
		t.Errorf("word 0 is %#x, want %#x", w0, want)
	}
	if want := uint64(154 | hwbreg.RxdDone | hwbreg.RxdEOP | nicreg.RxVLAN<<hwbreg.RxdFlagsShift | nicreg.RxIPChecked<<hwbreg.RxdFlagsShift | nicreg.RxL4Checked<<hwbreg.RxdFlagsShift); w1 != want {
		t.Errorf("word 1 is %#x, want %#x", w1, want)
	}
	if !bytes.Equal(b.Bytes(b.bufs[0], len(f)), f) {
		t.Error("the tag was not taken out")
	}
	f[24] ^= 1 // IP checksum
	b.Inject(f)
	if _, w1 := b.written(1); w1&(nicreg.RxIPChecked<<hwbreg.RxdFlagsShift|nicreg.RxIPBad<<hwbreg.RxdFlagsShift) != nicreg.RxIPChecked<<hwbreg.RxdFlagsShift|nicreg.RxIPBad<<hwbreg.RxdFlagsShift {
		t.Errorf("word 1 of the bad one is %#x", w1)
	}
}

func TestTableSpreadsOverQueues(t *testing.T) {
	b := newBench(t)
	b.receiver(t, 0)
	setting := make([]byte, hwbreg.RSSBytes)
	for i := range nicreg.RETAEntries {
		setting[nicreg.RSSKeyBytes+i] = 3 // not enabled
	}
	b.run(t, hwbreg.OpRSS, uint64(b.Buffer(setting)), hwbreg.RSSBytes, hwbreg.AdmOK)
	b.fill(4)
	b.Inject(rig.Ether(60))
	if got, missed := b.stat(nicreg.StatRxFrames), b.stat(nicreg.StatRxMissed); got != 0 || missed != 1 {
		t.Errorf("%d delivered, %d missed; want the frame to go to queue 3", got, missed)
	}
	b.run(t, hwbreg.OpRSS, 0, 0, hwbreg.AdmOK)
	b.Inject(rig.Ether(60))
	if got := b.stat(nicreg.StatRxFrames); got != 1 {
		t.Errorf("%d delivered with RSS off, want 1", got)
	}
}

func TestFilterFollowsModeAndList(t *testing.T) {
	b := newBench(t)
	b.receiver(t, 0)
	b.fill(15)
	group, other := rig.Ether(60), rig.Ether(60)
	copy(group, []byte{0x01, 0x00, 0x5e, 0, 0, 5})
	other[5] ^= 0xff
	delivered := func(f []byte) bool {
		before := b.stat(nicreg.StatRxFrames)
		b.Inject(f)
		return b.stat(nicreg.StatRxFrames) != before
	}
	if delivered(group) || delivered(other) || !delivered(rig.Ether(60)) {
		t.Error("default filter is not own address and broadcast")
	}
	list := make([]byte, 2*hwbreg.McastEntry)
	copy(list[hwbreg.McastEntry:], group[:6])
	b.run(t, hwbreg.OpMcast, uint64(b.Buffer(list)), 2, hwbreg.AdmOK)
	if !delivered(group) || delivered(other) {
		t.Error("the list does not let its group in, or more")
	}
	b.run(t, hwbreg.OpMcast, uint64(b.Buffer(list)), 0, hwbreg.AdmOK)
	if delivered(group) {
		t.Error("an empty list lets a group in")
	}
	b.run(t, hwbreg.OpRxMode, hwbreg.RxModeAllMulti, 0, hwbreg.AdmOK)
	if !delivered(group) || delivered(other) {
		t.Error("all-multicast is wrong")
	}
	b.run(t, hwbreg.OpRxMode, hwbreg.RxModePromisc, 0, hwbreg.AdmOK)
	if !delivered(other) {
		t.Error("promiscuous mode is wrong")
	}
	b.run(t, hwbreg.OpRxMode, 0, 0, hwbreg.AdmOK)
	b.run(t, hwbreg.OpSetMAC, 0xfe0000000002, 0, hwbreg.AdmOK)
	if !delivered(other) || delivered(rig.Ether(60)) {
		t.Error("a new station address does not count")
	}
}

func TestBufferThatCannotBeWrittenIsAnError(t *testing.T) {
	b := newBench(t)
	b.receiver(t, 0)
	b.fill(2)
	b.rx[0] = 1 << 40
	b.Inject(rig.Ether(60))
	if n := b.stat(nicreg.StatRxErrors); n != 1 {
		t.Errorf("%d errors, want 1", n)
	}
	b.run(t, hwbreg.OpMaxFrame, 1514, 0, hwbreg.AdmOK)
	b.Inject(rig.Ether(1515))
	if n := b.stat(nicreg.StatRxErrors); n != 2 {
		t.Errorf("%d errors after a frame too long, want 2", n)
	}
}
