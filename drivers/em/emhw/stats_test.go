package emhw_test

import (
	"testing"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

// want checks registers; reading them clears them.
func (b *board) want(values map[uint64]uint32) {
	b.t.Helper()
	for off := uint64(emreg.StatsFirst); off <= emreg.StatsLast; off += 4 {
		if off == emreg.IAC {
			continue
		}
		if v := b.read(off); v != values[off] {
			b.t.Errorf("register %#x is %d, want %d", off, v, values[off])
		}
	}
}

// Case 57: 5 frames, then none.
func TestReceiveStatisticsClearOnRead(t *testing.T) {
	b := newBoard(t, "82574L")
	b.rxOn(0, emreg.RCTLBAM|emreg.RCTLMPE|emreg.RCTLLPE)
	own, all, group, big := rig.NewFlow(6), rig.NewFlow(200-54), rig.NewFlow(124-54), rig.NewFlow(1500)
	all.Dst, group.Dst = bcast, [6]byte{1, 0, 0x5e, 0, 0, 1}
	b.arrive(own.Build(t), own.Build(t), all.Build(t), group.Build(t), big.Build(t))
	octets := uint32(64 + 64 + 204 + 128 + 1558)
	b.want(map[uint64]uint32{
		emreg.GPRC: 5, emreg.TPR: 5, emreg.BPRC: 1, emreg.MPRC: 1, emreg.GORCL: octets, emreg.TORL: octets,
		emreg.PRC64: 2, emreg.PRC255: 2, emreg.PRC1522: 1,
	})
	b.want(nil)
}

func TestTransmitStatisticsCountSegments(t *testing.T) {
	b := newBoard(t, "82540EM")
	b.write(emreg.CTRL, b.read(emreg.CTRL)|emreg.CtrlVME)
	r := b.txOn(0)
	f := rig.NewFlow(1000)
	f.Dst = bcast
	r.put(0x0021180e, 0x00003222, 0x270003e8, 600<<16|54<<8)
	r.data(f.Unsummed(t, true), 0x2f100000, 0x300)         // 654 and 454 bytes
	r.data(rig.NewFlow(1).Build(t), 0x4b000000, 0x0001000) // 60 and a tag
	r.doorbell()
	b.want(map[uint64]uint32{
		emreg.GPTC: 3, emreg.TPT: 3, emreg.BPTC: 2, emreg.TSCTC: 1, emreg.TOTL: 658 + 458 + 64, emreg.GOTCL: 658 + 458 + 64,
		emreg.PTC64: 1, emreg.PTC511: 1, emreg.PTC1023: 1, emreg.ICTXQEC: 1,
	})
	b.want(nil)
}

func TestOctetsAreAPairClearedByTheHighHalf(t *testing.T) {
	b := newBoard(t, "82574L")
	b.rxOn(0, 0)
	b.arrive(rig.NewFlow(100).Build(t))
	for range 2 {
		if v := b.read(emreg.GORCL); v != 158 {
			t.Errorf("low %d before the high half is read", v)
		}
	}
	if v := b.read(emreg.GORCH); v != 0 {
		t.Errorf("high %d", v)
	}
	if v := b.read(emreg.GORCL); v != 0 {
		t.Errorf("low %d after", v)
	}
}
