package e1000hw_test

import (
	"testing"
	"time"

	"github.com/ifsim/ifsim/drivers/em/emreg"
	"github.com/ifsim/ifsim/drivers/internal/e1000/e1000reg"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

const linkVector = 4

// msix sets up vectors as the drivers do: queue q on vector q, receive and transmit,
// other causes on linkVector; what is enabled clears and masks itself.
func (b *board) msix() {
	b.t.Helper()
	b.ConnectMSIX(linkVector + 1)
	b.write(e1000reg.GPIE, 1<<4|1<<30|1<<31|1)
	if b.name == "82576" { // register q: receive 7:0, transmit 15:8
		for q := range uint64(4) {
			b.write(e1000reg.IVAR0+4*q, 0x8080|uint32(q)*0x0101)
		}
	} else { // two queues a register
		b.write(e1000reg.IVAR0, 0x81818080)
		b.write(e1000reg.IVAR0+4, 0x83838282)
	}
	b.write(e1000reg.IVARMisc, (0x80|linkVector)<<8)
	b.read(emreg.ICR)
	b.write(e1000reg.EIAC, 0x1f)
	b.write(e1000reg.EIAM, 0x1f)
	b.write(e1000reg.EIMS, 0x1f)
	b.write(emreg.IMS, emreg.ICRLSC)
}

// fired are the vectors that have fired since the last call.
func (b *board) fired() (out [linkVector + 1]int) {
	for v := range out {
		out[v] = b.Fired(v + 1)
	}
	return out
}

func (b *board) wantFired(what string, want ...int) {
	b.t.Helper()
	var w [linkVector + 1]int
	for _, v := range want {
		w[v]++
	}
	if got := b.fired(); got != w {
		b.t.Errorf("%s: fired %v, want %v", what, got, w)
	}
}

func TestQueuesInterruptTheirVectors(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		b.msix()
		f := rig.Ether(60)
		for q := range 4 {
			tx := b.txOn(q)
			tx.data(f, 0x23300000, 60<<14) // no RS
			tx.doorbell()
			b.wantFired("without a report")
			tx.frame(f)
			tx.doorbell()
			b.wantFired("sent", q)
			tx.frame(f)
			tx.doorbell()
			b.wantFired("masked by its message")
			b.write(e1000reg.EIMS, 1<<q)
			b.wantFired("unmasked with a cause", q)
			b.write(e1000reg.EIMS, 1<<q)
			b.wantFired("unmasked without")
		}
		b.rxOn(0)
		b.Inject(f)
		b.wantFired("received", 0)
		if v := b.read(emreg.IAC); v != 9 {
			t.Errorf("IAC is %d, want 9", v)
		}
	})
}

func TestExtendedCausesAndMasks(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		b.msix()
		b.write(e1000reg.EIAC, 0) // nothing clears itself
		b.write(e1000reg.EIAM, 0)
		b.write(e1000reg.EIMC, 2)
		if v := b.read(e1000reg.EIMS); v != 0x1d {
			t.Errorf("EIMS %#x", v)
		}
		b.write(e1000reg.EICS, 6)
		b.wantFired("set by hand", 2)
		if v := b.read(e1000reg.EICR); v != 6 {
			t.Errorf("EICR %#x, want 6", v)
		}
		b.write(e1000reg.EICR, 4)
		b.write(e1000reg.EIMS, 2)
		b.wantFired("unmasked", 1)
		if v := b.read(e1000reg.EICR); v != 2 {
			t.Errorf("EICR %#x, want 2", v)
		}
		b.write(e1000reg.EICS, 1<<30)
		b.wantFired("a vector that is not there")
	})
}

// The link's vector is that of IVAR_MISC. ICR keeps the cause until it is read.
func TestLinkInterrupt(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		b.msix()
		must(t, b.Far.Close())
		b.wantFired("link lost", linkVector)
		if v := b.read(emreg.STATUS); v&2 != 0 {
			t.Errorf("STATUS %#x: link is up", v)
		}
		if v := b.read(e1000reg.ICR); v != 1<<31|4 {
			t.Errorf("ICR %#x, want LSC and INT_ASSERTED", v)
		}
		if v := b.read(emreg.ICR); v != 0 {
			t.Errorf("ICR %#x after it was read", v)
		}
		b.write(e1000reg.EIMS, 1<<linkVector)
		b.wantFired("nothing new")
		b.write(emreg.ICS, emreg.ICRLSC)
		b.wantFired("set by hand", linkVector)
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// EITR is the least time between two messages of a vector, in microseconds from bit 2.
func TestModeration(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		const interval = 8 * time.Millisecond
		b.msix()
		b.write(e1000reg.EIAM, 0)
		b.write(e1000reg.EITR+4, 1<<31|8000<<2)
		r := b.txOn(1)
		f := rig.Ether(60)
		send := func() {
			r.frame(f)
			r.doorbell()
		}
		send()
		b.wantFired("first", 1)
		send()
		send()
		b.wantFired("within the interval")
		b.K.Advance(interval)
		b.wantFired("after it, once for both", 1)
		send()
		b.write(e1000reg.EITR+4, 0)
		b.wantFired("interval taken away", 1)
		if v := b.read(e1000reg.EITR + 4); v != 0 {
			t.Errorf("EITR %#x", v)
		}
	})
}

// Without GPIE.MSIX_MODE causes are those of ICR, delivered by the line until they are
// read; a message of MSI stands for the line.
func TestLineInterrupts(t *testing.T) {
	for _, msi := range []bool{false, true} {
		each(t, func(t *testing.T, b *board) {
			rid := 0
			if msi {
				rid = 1
				if n, err := b.Fn.AllocMSI(1); err != nil || n != 1 {
					t.Fatal(n, err)
				}
			}
			var seen []uint32
			_, err := b.Fn.SetupIntr(rid, "nic0:irq", 0, func() {
				seen = append(seen, b.read(emreg.ICR))
				b.write(emreg.IMC, ^uint32(0))
			})
			must(t, err)
			t.Cleanup(func() { must(t, b.Fn.TeardownIntr(rid)) })
			b.read(emreg.ICR)
			b.write(emreg.IMS, 0x9d)
			tx := b.txOn(0)
			b.rxOn(0)
			tx.frame(rig.Ether(60))
			tx.doorbell()
			b.Settle()
			b.Inject(rig.Ether(60)) // masked now
			b.write(e1000reg.IMS, 0x9d)
			b.Settle()
			b.write(emreg.ICS, emreg.ICRLSC)
			b.write(emreg.IMS, 0x9d)
			b.Settle()
			want := []uint32{1<<31 | 1, 1<<31 | 0x80, 1<<31 | 4}
			if len(seen) != 3 || seen[0] != want[0] || seen[1] != want[1] || seen[2] != want[2] {
				t.Errorf("MSI %v: ICR read as %x, want %x", msi, seen, want)
			}
		})
	}
}

// IMS has bits for causes only (spec 1g 5.2).
func TestMaskHasTheBitsOfCauses(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		b.write(emreg.IMS, ^uint32(0))
		if v := b.read(emreg.IMS); v != 0x77d4fbfd {
			t.Errorf("IMS %#x", v)
		}
		b.write(e1000reg.IMC, 0x77d4fbf0)
		if v := b.read(e1000reg.IMS); v != 0xd {
			t.Errorf("IMS %#x after bits were cleared", v)
		}
	})
}

// Reading ICR clears nothing while something is enabled and no interrupt was asserted,
// with vectors; NSICR, or nothing enabled, clears all the same.
func TestReadingICR(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		b.msix()
		b.write(e1000reg.GPIE, 1<<4)
		b.write(emreg.ICS, emreg.ICRRXDMT0)
		for range 2 {
			if v := b.read(emreg.ICR); v != 0x10 {
				t.Errorf("ICR %#x, want RXDMT0", v)
			}
		}
		b.write(e1000reg.GPIE, 1<<4|1)
		b.read(emreg.ICR)
		if v := b.read(emreg.ICS); v != 0 {
			t.Errorf("ICR %#x with NSICR", v)
		}
		b.write(e1000reg.GPIE, 1<<4)
		b.write(emreg.ICS, emreg.ICRRXDMT0)
		b.write(emreg.IMC, ^uint32(0))
		b.read(emreg.ICR)
		if v := b.read(emreg.ICS); v != 0 {
			t.Errorf("ICR %#x with nothing enabled", v)
		}
		b.write(emreg.CTRLExt, emreg.CtrlExtIAME)
		b.write(e1000reg.IAM, emreg.ICRLSC)
		b.write(emreg.IMS, emreg.ICRLSC|emreg.ICRRXT0)
		b.write(emreg.ICS, emreg.ICRRXT0)
		b.read(emreg.ICR)
		if v := b.read(emreg.IMS); v != emreg.ICRRXT0 {
			t.Errorf("IMS %#x: IAM was not applied", v)
		}
		b.write(emreg.ICS, 0x30)
		b.write(emreg.ICR, 0x10)
		if v := b.read(emreg.ICS); v != 0x20 {
			t.Errorf("ICR %#x after 0x10 was cleared", v)
		}
	})
}

func TestFewReceiveDescriptorsRaiseRXDMT0(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		r := b.rxOn(0)
		b.write(r.base+e1000reg.SRRCTL, 0x02000002|0<<20)
		b.Inject(rig.Ether(60))
		if v := b.read(emreg.ICR); v&0x10 != 0 {
			t.Errorf("ICR %#x: RXDMT0 without a threshold", v)
		}
		b.write(r.base+e1000reg.SRRCTL, 0x02000002|1<<20) // 16 descriptors
		b.Inject(rig.Ether(60))
		if v := b.read(emreg.ICR); v&0x10 == 0 || b.read(emreg.ICRXDMTC) != 1 {
			t.Errorf("ICR %#x: no RXDMT0", v)
		}
	})
}

// The queues of 82576 from 8 on have the upper half of a register.
func TestUpperQueuesOf82576(t *testing.T) {
	b := newBoard(t, "82576")
	b.msix()
	b.write(e1000reg.IVAR0+4*3, 0x82<<24|0x83<<16)
	r := b.txOn(11)
	r.frame(rig.Ether(60))
	r.doorbell()
	b.wantFired("sent", 2)
	b.steer(allTypes)
	for i := range uint64(32) {
		b.write(emreg.RETA+4*i, 0x0b0b0b0b)
	}
	b.rxOn(11)
	b.Inject(rig.NewFlow(20).Build(t))
	b.wantFired("received", 3)
}

// Fail points: a message that is lost comes with the next cause; what else is broken
// stays inside.
func TestLostInterruptIsRepeatedByTheNextCause(t *testing.T) {
	each(t, func(t *testing.T, b *board) {
		b.msix()
		r := b.txOn(0)
		f := rig.Ether(60)
		b.fault("lost_intr", "1*return")
		r.frame(f)
		r.doorbell()
		b.wantFired("lost")
		r.frame(f)
		r.doorbell()
		b.wantFired("the next", 0)
	})
}
