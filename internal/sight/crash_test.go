package sight_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ifsim/ifsim/drivers/skel"
	"github.com/ifsim/ifsim/iflib"
	"github.com/ifsim/ifsim/internal/machine"
)

// liar is a driver that claims more completions than it was given descriptors, while lies
// is set.
type liar struct {
	iflib.Device
	ctx  *iflib.Ctx
	lies *atomic.Bool
}

func (d *liar) Unwrap() iflib.Device { return d.Device }

func (d *liar) AttachPre() error {
	err := d.Device.AttachPre()
	if err == nil {
		s := d.ctx.Softc()
		s.TxRx = &lyingPath{s.TxRx, d.lies}
	}
	return err
}

type lyingPath struct {
	iflib.TxRx
	lies *atomic.Bool
}

func (p *lyingPath) Unwrap() iflib.TxRx { return p.TxRx }

func (p *lyingPath) TxdCreditsUpdate(qid int, clear bool) int {
	if clear && p.lies.Load() {
		return 1000
	}
	return p.TxRx.TxdCreditsUpdate(qid, clear)
}

// lying is a machine's configuration whose skel lies when it is told to.
func lying(cfg machine.Config, lies *atomic.Bool) machine.Config {
	driver := skel.Driver
	driver.New = func(ctx *iflib.Ctx) iflib.Device { return &liar{skel.Driver.New(ctx), ctx, lies} }
	entry := skelEntry
	entry.Driver = &driver
	cfg.Drivers = []machine.DriverEntry{entry}
	return cfg
}

// lie is what the framework says of the first lie, about a queue.
func lie(queue, outstanding int) string {
	return fmt.Sprintf("txd_credits_update: 1000 credits on queue %d, %d descriptors outstanding", queue, outstanding)
}

const firstDump = "skel0.0.dump"

// TestABrokenContractIsDumpedOnce has the driver break a rule on each path, again and
// again.
func TestABrokenContractIsDumpedOnce(t *testing.T) {
	for _, simple := range []string{"0", "1"} {
		t.Run("simple_tx="+simple, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "var", "crash")
			cfg := still()
			cfg.Invariants, cfg.CrashDir = false, dir
			cfg.Env = map[string]string{"dev.skel.0.iflib.simple_tx": simple}
			var lies atomic.Bool
			b := boot(t, lying(cfg, &lies), "skel0")
			if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("the directory is there before it is needed: %v", err)
			}
			// The mp_ring's consumer asks before it sends, and then has the packet in the ring.
			text, queue, ring := lie(0, 1), "0: pidx 1 cidx 0 cidx_processed 0 in_use 1 ", "0 mp_ring, slot 1: 1 of 60 bytes: 1 mbuf\n"
			if simple == "1" {
				text, queue, ring = lie(1, 2), "1: pidx 2 cidx 0 cidx_processed 0 in_use 2 ", "1 ring, slots 0-1: 2 of 120 bytes: 2 mbuf\n"
			}
			b.set("debug.fail_point.hw.skel0.stuck_head", "return(1)")
			b.send("skel0", 1)
			lies.Store(true)
			b.send("skel0", 1)
			b.send("skel0", 1)
			lies.Store(false)
			b.set("debug.fail_point.hw.skel0.stuck_head", "off")
			b.Kernel().RunUntilIdle()
			file := filepath.Join(dir, firstDump)
			got, err := os.ReadFile(file)
			b.must(err)
			for _, want := range []string{
				"skel0: " + text + "\nuptime ",
				"skel0: running, link up, ",
				"broken contracts 1\n",
				"  transmit queue " + queue, "  skel0 transmit queue " + ring,
				"  skel0 receive queue 0: busy, not looked at\n",
			} {
				if !strings.Contains(string(got), want) {
					t.Errorf("no %q in the file:\n%.3000s", want, got)
				}
			}
			list, err := os.ReadDir(dir)
			b.must(err)
			if len(list) != 1 {
				t.Errorf("%d files", len(list))
			}
			console := b.console.String()
			for want, n := range map[string]int{
				"skel0: driver contract broken: " + text + "\n": 1, "skel0: " + text + "\nskel0: running": 1,
				"skel0: the dump is in " + file + "\n": 1, "packet buffers unaccounted for: ": 1,
			} {
				if got := strings.Count(console, want); got != n {
					t.Errorf("%q is on the console %d times:\n%s", want, got, console)
				}
			}
			// Work goes on: the interface was reset.
			b.settle(0)
			b.send("skel0", 3)
			b.settle(0)
			b.account(b.dump())
		})
	}
}

func TestABrokenInvariantIsDumpedBeforeThePanic(t *testing.T) {
	cfg := still()
	cfg.CrashDir = t.TempDir()
	var lies atomic.Bool
	b := boot(t, lying(cfg, &lies), "skel0")
	b.dead = true
	lies.Store(true)
	func() {
		defer func() {
			if r := recover(); r != "skel0: "+lie(0, 0) {
				t.Errorf("panic %v", r)
			}
		}()
		b.send("skel0", 1)
	}()
	lies.Store(false)
	if _, err := os.Stat(filepath.Join(cfg.CrashDir, firstDump)); err != nil {
		t.Error(err)
	}
	if n := strings.Count(b.console.String(), "the dump is in "); n != 1 {
		t.Errorf("%d dumps:\n%s", n, b.console.String())
	}
}

func TestAPanicOfTheMachineDumpsAllDevices(t *testing.T) {
	cfg := still()
	cfg.CrashDir = t.TempDir()
	b := boot(t, cfg, "skel0", "em0")
	b.dead = true
	task := b.Kernel().NewTask("bad", func() { panic("out of order") })
	task.Enqueue()
	func() {
		defer func() {
			if r := recover(); r != "out of order" {
				t.Errorf("panic %v", r)
			}
		}()
		b.Kernel().RunUntilIdle()
	}()
	got, err := os.ReadFile(filepath.Join(cfg.CrashDir, "panic.0.dump"))
	b.must(err)
	for _, want := range []string{"panic: out of order\n", "skel0: running", "em0: running", "  registers\n    0x0000 CTRL "} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %q in the file", want)
		}
	}
	if console := b.console.String(); !strings.Contains(console, "panic: out of order\n") || strings.Contains(console, "0x0000 CTRL") {
		t.Errorf("%s", console)
	}
}

func TestADumpThatCannotBeKeptIsOnTheConsole(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := still()
	cfg.Invariants, cfg.CrashDir = false, file
	var lies atomic.Bool
	b := boot(t, lying(cfg, &lies), "skel0")
	lies.Store(true)
	b.send("skel0", 1)
	lies.Store(false)
	console := b.console.String()
	if !strings.Contains(console, "skel0: the dump is lost: ") || !strings.Contains(console, "  transmit queue 0: pidx 0 cidx 0") {
		t.Errorf("%s", console)
	}
}
