package emhw_test

import (
	"testing"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port/null"
	"github.com/ifsim/ifsim/internal/quiet/quietbench"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

// sender makes a NIC on a null port and a function that sends n packets of two
// descriptors through it, one by one, reporting one in every.
func sender(tb testing.TB, chip string, every uint32) func(n int) {
	k, _ := newKernel(tb, stepped())
	b := plug(tb, k, chip, hw.Config{Name: "em0", Port: null.New(), MAC: macHW})
	r := b.ring(emreg.TDBAL, 1024)
	r.program()
	b.write(emreg.TCTL, emreg.TCTLEN|emreg.TCTLPSP)
	f := rig.NewFlow(60).Build(tb)
	for i := range r.count {
		cmd := uint32(0x02000000)
		if i%2 == 1 {
			cmd = 0x03000000
			if i/2%every == 0 {
				cmd = 0x0b000000
			}
		}
		r.data(f, cmd, 0)
	}
	at := uint32(0)
	return func(n int) {
		for range n {
			if at += 2; at == r.count {
				at = 0
			}
			b.bar.Write32(emreg.TDT, at)
		}
	}
}

func BenchmarkTransmitTwoDescriptors(b *testing.B) {
	quietbench.Measure(b, sender(b, "82574L", 16))
}

func TestTransmitDoesNotAllocate(t *testing.T) {
	for _, chip := range []string{"82574L", "82540EM"} {
		send := sender(t, chip, 4)
		if n := testing.AllocsPerRun(2000, func() { send(1) }); n != 0 {
			t.Errorf("%s: %v allocations a packet", chip, n)
		}
	}
}
