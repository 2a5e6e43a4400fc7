package sight_test

import (
	"bytes"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/drivers/skel"
	"github.com/ifsim/ifsim/drivers/skel/skelhw"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/ifnet/mbuf"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
	"github.com/ifsim/ifsim/internal/sight"
	"github.com/ifsim/ifsim/internal/testnic/rig"
	"go.uber.org/goleak"
)

// entry joins a driver with its hardware.
func entry(driver *iflib.Driver, hardware func(hw.Config) (hw.NIC, error)) machine.DriverEntry {
	return machine.DriverEntry{
		Driver: driver, DefaultChip: driver.Name, Chips: func() []string { return []string{driver.Name} },
		New: func(_ string, cfg hw.Config) (hw.NIC, error) { return hardware(cfg) },
	}
}

// skelEntry is the example driver.
var skelEntry = entry(&skel.Driver, skelhw.New)

// bed is a machine that has been up for a while.
type bed struct {
	*machine.Machine
	t       *testing.T
	console rig.Console
	cache   *mbuf.Cache
	dead    bool // a panic has left locks held: the machine cannot be closed any more
}

// boot boots a machine with the interfaces of names up, each with a null port.
func boot(t *testing.T, cfg machine.Config, names ...string) *bed {
	t.Helper()
	ignore := goleak.IgnoreCurrent()
	b := &bed{t: t}
	if cfg.Env == nil {
		cfg.Env = map[string]string{}
	}
	for _, n := range names {
		cfg.Env["hint."+n[:len(n)-1]+"."+n[len(n)-1:]+".port"] = "null"
	}
	cfg.NCPU, cfg.MemSize, cfg.Console = 2, 64<<20, &b.console
	if cfg.Drivers == nil {
		cfg.Drivers = []machine.DriverEntry{skelEntry}
	}
	m, err := machine.Boot(cfg)
	b.must(err)
	b.Machine = m
	b.cache = mbuf.Of(m.Kernel()).NewCache()
	t.Cleanup(func() {
		if b.dead {
			return
		}
		b.cache.Close()
		b.must(m.Close())
		if err := goleak.Find(ignore); err != nil {
			t.Error(err)
		}
	})
	for _, n := range names {
		b.must(m.Up(n))
	}
	if cfg.Executor == kern.Stepped {
		b.settle(3 * time.Second)
	}
	return b
}

// still is the configuration of a machine in which nothing moves by itself.
func still() machine.Config {
	return machine.Config{Executor: kern.Stepped, Clock: kern.ManualClock, Invariants: true}
}

func (b *bed) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bed) settle(d time.Duration) {
	b.Kernel().RunUntilIdle()
	b.Kernel().Advance(d)
	b.Kernel().RunUntilIdle()
}

// set sets a sysctl.
func (b *bed) set(name, value string) {
	b.t.Helper()
	b.must(b.Kernel().Sysctl.SetText(name, value))
}

// send hands n packets of 60 bytes to an interface.
func (b *bed) send(name string, n int) {
	b.t.Helper()
	for range n {
		m := b.cache.GetHdr()
		if m == nil || !b.cache.Append(m, rig.Ether(60)) {
			b.t.Fatal("no mbufs")
		}
		m.FixHdr()
		_ = b.Ifnet(name).Transmit(m) // a refused packet is the interface's to count
	}
}

// devices are the contexts of all attached NICs.
func (b *bed) devices() (list []*iflib.Ctx) {
	for _, name := range b.Devices() {
		if ctx := b.Ctx(name); ctx != nil {
			list = append(list, ctx)
		}
	}
	return list
}

func (b *bed) dump() sight.Dump { return sight.Take(b.Kernel(), b.devices(), true) }

// account fails unless each buffer in use is held by somebody, and nobody was busy.
func (b *bed) account(d sight.Dump) {
	b.t.Helper()
	if d.Mbufs.Leak().Any() || len(d.Mbufs.Busy) != 0 {
		b.t.Errorf("unaccounted for: %+v, busy %q", d.Mbufs.Leak(), d.Mbufs.Busy)
	}
}

// packets is how many packets there are at places of that name.
func packets(d sight.Dump, name string) (n int) {
	for _, p := range d.Mbufs.Places {
		if p.Name == name {
			n += p.Packets
		}
	}
	return n
}

func text(t *testing.T, d sight.Dump, all bool) string {
	t.Helper()
	var b bytes.Buffer
	if err := d.Write(&b, all); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// files are the files of a machine's root directory, by name and text.
func files(pairs ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return out
}
