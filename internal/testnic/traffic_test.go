// Package testnic_test runs the drivers of the test NICs on their models, through the
// whole framework.
package testnic_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/pair"
	"github.com/ifsim/ifsim/drivers/skel"
	"github.com/ifsim/ifsim/drivers/skel/skelhw"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/iflib/busdma"
	"github.com/ifsim/ifsim/iflib/pci"
	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/internal/testnic/cqnic"
	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqhw"
	"github.com/ifsim/ifsim/internal/testnic/hwbnic"
	"github.com/ifsim/ifsim/internal/testnic/hwbnic/hwbhw"
	"github.com/ifsim/ifsim/internal/testnic/rig"
	"github.com/ifsim/ifsim/sysctl"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	etherTest = 0x88b5 // what rig.Ether sends
	memSize   = 48 << 20
	settle    = 50 * time.Millisecond
)

// part is one kind of NIC.
type part struct {
	drv *iflib.Driver
	mk  rig.Make
}

var parts = map[string]part{
	"cqnic":  {&cqnic.Driver, cqhw.New},
	"hwbnic": {&hwbnic.Driver, hwbhw.New},
	"skel":   {&skel.Driver, skelhw.New},
}

// wire is a machine with two NICs of one kind wired together.
type wire struct {
	t       *testing.T
	k       *kern.Kernel
	console bytes.Buffer
	ctx     [2]*iflib.Ctx
	got     [2][][]byte // frames that each NIC handed up
}

func newWire(t *testing.T, p part, tunables map[string]string) *wire {
	t.Helper()
	w := &wire{t: t}
	env := sysctl.NewKenv()
	must(t, env.Set("hw.busdma.check", "1"))
	for name, v := range tunables {
		must(t, env.Set(name, v))
	}
	k, err := kern.New(kern.Config{NCPU: 4, Executor: kern.Stepped, Clock: kern.ManualClock, Invariants: true,
		Mem: physmem.Config{Size: memSize, Backing: physmem.Heap}, Env: env, Console: &w.console})
	must(t, err)
	w.k = k
	_, err = mbuf.Init(k, mbuf.Config{})
	must(t, err)
	for _, init := range []func(*kern.Kernel) error{busdma.Init, ifnet.Init, iflib.Init} {
		must(t, init(k))
	}
	bus := pci.Init(k)
	fabric, work := port.NewFabric(pair.Kind()), hw.NewWorkList()
	for i := range w.ctx {
		end, err := fabric.Open("pair:wire0")
		must(t, err)
		name := fmt.Sprintf("%s%d", p.drv.Name, i)
		dev, err := p.mk(hw.Config{Kernel: k, Name: name, Port: end, MAC: [6]byte{2, 0, 0, 0, 0, byte(i + 1)}, Work: work})
		must(t, err)
		fn, err := bus.Insert(pci.Location{Bus: 2, Slot: i}, dev)
		must(t, err)
		w.ctx[i], err = iflib.Attach(k, p.drv, fn, i)
		must(t, err)
	}
	cancel := ifnet.RegisterProtocol(k, etherTest, w.input)
	w.settle()
	t.Cleanup(func() {
		cancel()
		for _, ctx := range w.ctx {
			must(t, ctx.Detach())
		}
		must(t, k.Close())
		if t.Failed() {
			t.Log(w.console.String())
		}
	})
	return w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *wire) settle() {
	w.k.RunUntilIdle()
	w.k.Advance(settle)
	w.k.RunUntilIdle()
}

// input takes a packet without its Ethernet header.
func (w *wire) input(c *mbuf.Cache, ifp *ifnet.Ifnet, m *mbuf.Mbuf) {
	b := make([]byte, m.Length())
	m.CopyData(0, b)
	for i, ctx := range w.ctx {
		if ctx.Ifp() == ifp {
			w.got[i] = append(w.got[i], b)
		}
	}
	c.FreeChain(m)
}

func (w *wire) up() {
	for _, ctx := range w.ctx {
		must(w.t, ctx.Ifp().Ioctl(ifnet.IoctlSetFlags, ifnet.FlagUp))
	}
	w.settle()
	for _, ctx := range w.ctx {
		if !ctx.IsRunning() || ctx.Ifp().LinkState() != ifnet.LinkStateUp {
			w.t.Fatalf("%s is not up:\n%s", ctx.Name(), w.console.String())
		}
	}
}

// frame is an Ethernet frame of n bytes for NIC to.
func frame(to, n, seq int) []byte {
	b := rig.Ether(n)
	b[5] = byte(to + 1)
	binary.BigEndian.PutUint32(b[14:], uint32(seq))
	return b
}

// send transmits a frame from NIC from.
func (w *wire) send(from int, b []byte) error {
	z := mbuf.Of(w.k)
	c := z.Borrow()
	defer z.Return(c)
	m := c.GetHdr()
	if m == nil || !c.Append(m, b) {
		w.t.Fatal("no mbufs")
	}
	return w.ctx[from].Ifp().Transmit(m)
}

func (w *wire) text(name string) string {
	w.t.Helper()
	s, err := w.k.Sysctl.Text(name)
	must(w.t, err)
	return s
}

// exchange sends frames both ways and checks that each arrives once, in order.
func (w *wire) exchange(count int, size func(i int) int) {
	w.t.Helper()
	for n := range w.got {
		w.got[n] = nil
	}
	var want [2][][]byte
	for i := range count {
		for from := range w.ctx {
			b := frame(1-from, size(i), i)
			must(w.t, w.send(from, b))
			want[1-from] = append(want[1-from], b[hw.EtherHdrLen:])
		}
		if i%8 == 7 {
			w.settle()
		}
	}
	w.settle()
	for n := range w.got {
		if len(w.got[n]) != count {
			w.t.Fatalf("NIC %d got %d of %d frames\n%s", n, len(w.got[n]), count, w.console.String())
		}
		for i, b := range w.got[n] {
			if !bytes.Equal(b[:len(want[n][i])], want[n][i]) {
				w.t.Fatalf("NIC %d: frame %d is not what was sent", n, i)
			}
		}
	}
}

func TestTrafficInEveryInterruptMode(t *testing.T) {
	for name, p := range parts {
		for _, mode := range []string{"MSI-X", "MSI", "INTx"} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				tun := map[string]string{}
				for i := range 2 {
					if mode != "MSI-X" {
						tun[fmt.Sprintf("dev.%s.%d.iflib.disable_msix", name, i)] = "1"
					}
				}
				if mode == "INTx" {
					tun["debug.fail_point.pci.alloc_msi"] = "return(6)"
				}
				w := newWire(t, p, tun)
				w.up()
				w.exchange(600, func(i int) int { return 60 + i%1400 })
				if v := w.text("dev." + name + ".0.bad_writeback"); v != "0" {
					t.Errorf("bad_writeback is %s", v)
				}
			})
		}
	}
}

func TestJumboFramesAndRestart(t *testing.T) {
	for name, p := range parts {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, p, nil)
			w.up()
			for _, ctx := range w.ctx {
				must(t, ctx.Ifp().Ioctl(ifnet.IoctlSetMTU, 9000))
			}
			w.settle()
			w.exchange(100, func(i int) int { return 60 + i*89 })
			for _, ctx := range w.ctx {
				must(t, ctx.Ifp().Ioctl(ifnet.IoctlSetFlags, ifnet.Flags(0)))
			}
			w.settle()
			w.up()
			w.exchange(100, func(i int) int { return 9014 - i })
		})
	}
}
