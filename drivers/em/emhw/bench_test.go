package emhw_test

import (
	"testing"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port/null"
)

// sender makes a NIC on a null port and a function that sends a packet of two
// descriptors through it, reporting one in every.
func sender(tb testing.TB, chip string, every uint32) func() {
	k, _ := newKernel(tb, stepped())
	b := plug(tb, k, chip, hw.Config{Name: "em0", Port: null.New(), MAC: macHW})
	r := b.ring(emreg.TDBAL, 1024)
	r.program()
	b.write(emreg.TCTL, emreg.TCTLEN|emreg.TCTLPSP)
	f := newFlow(60).build(tb)
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
	return func() {
		at = (at + 2) % r.count
		b.bar.Write32(emreg.TDT, at)
	}
}

func BenchmarkTransmitTwoDescriptors(b *testing.B) {
	send := sender(b, "82574L", 16)
	b.ReportAllocs()
	for b.Loop() {
		send()
	}
}

func TestTransmitDoesNotAllocate(t *testing.T) {
	for _, chip := range []string{"82574L", "82540EM"} {
		send := sender(t, chip, 4)
		if n := testing.AllocsPerRun(2000, send); n != 0 {
			t.Errorf("%s: %v allocations a packet", chip, n)
		}
	}
}
