package e1000hw_test

import (
	"testing"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

// Counters count frames by size with FCS, clear when read, and pairs with their high
// half (spec 1g 5.5).
func TestStatisticsCountAndClear(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		b.rxOn(0)
		b.write(emreg.RCTL, b.read(emreg.RCTL)|emreg.RCTLMPE)
		tx := b.txOn(2)
		group, all := rig.Ether(100), rig.Ether(1514)
		copy(group, []byte{1, 0, 0x5e, 0, 0, 1})
		copy(all, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
		for _, f := range [][]byte{rig.Ether(20), group, all} {
			tx.frame(f)
			b.Inject(f)
		}
		tx.doorbell()
		const octets = 64 + 104 + 1518
		want := map[uint64]uint32{
			emreg.TPT: 3, emreg.GPTC: 3, emreg.TPR: 3, emreg.GPRC: 3, emreg.MPTC: 1, emreg.BPTC: 1, emreg.MPRC: 1, emreg.BPRC: 1,
			emreg.PTC64: 1, emreg.PTC127: 1, emreg.PTC1522: 1, emreg.PRC64: 1, emreg.PRC127: 1, emreg.PRC1522: 1,
			emreg.GOTCL: octets, emreg.GORCL: octets, emreg.TOTL: octets, emreg.TORL: octets, emreg.MPC: 0,
		}
		for off, n := range want {
			if v := b.read(off); v != n {
				t.Errorf("counter %#x is %d, want %d", off, v, n)
			}
			b.write(off, 99) // read only
			if off == emreg.GOTCL || off == emreg.GORCL || off == emreg.TOTL || off == emreg.TORL {
				b.read(off + 4)
			}
			if v := b.read(off); v != 0 {
				t.Errorf("counter %#x is %d after it was read", off, v)
			}
		}
	})
}
