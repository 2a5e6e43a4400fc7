package e1000hw_test

import (
	"testing"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/drivers/port/null"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/internal/quiet/quietbench"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

// sender makes a NIC on a null port and a function that sends n packets of two
// descriptors through it, one by one, reporting one in 16.
func sender(tb testing.TB, chip string) func(n int) {
	b := newBoard(tb, chip) // its machine
	nic, err := partNamed(tb, chip).make(chip, hw.Config{Kernel: b.K, Name: "nic1", Port: null.New(), MAC: rig.MAC, Engine: hw.EngineInline})
	must(tb, err)
	fn, err := pci.Of(b.K).Insert(pci.Location{Bus: 3}, nic)
	must(tb, err)
	fn.EnableBusMaster()
	b.nic, b.Fn = nic, fn
	b.BAR, err = fn.MapBAR(pci.BARReg(0))
	must(tb, err)
	b.linkUp()
	r := b.txOn(0)
	f := rig.NewFlow(60).Build(tb)
	pay := uint32(2*len(f)) << 14
	for i := range uint32(ringCount) {
		cmd := uint32(0x22300000)
		if i == ringCount-1 {
			cmd = 0x2b300000
		} else if i%2 == 1 {
			cmd = 0x23300000
		}
		r.data(f, cmd, pay)
	}
	at := uint32(0)
	return func(n int) {
		for range n {
			if at += 2; at == ringCount {
				at = 0
			}
			b.BAR.Write32(r.base+e1000reg.TAIL, at)
		}
	}
}

// BenchmarkTransmitTwoDescriptors is emhw's of the same name for the advanced parts.
func BenchmarkTransmitTwoDescriptors(b *testing.B) { quietbench.Measure(b, sender(b, "I210")) }

func TestTransmitDoesNotAllocate(t *testing.T) {
	for _, p := range parts() {
		send := sender(t, p.name)
		if n := testing.AllocsPerRun(2000, func() { send(1) }); n != 0 {
			t.Errorf("%s: %v allocations a packet", p.name, n)
		}
	}
}
