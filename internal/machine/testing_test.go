package machine_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"github.com/ifsim/ifsim/ifnet"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
	"github.com/ifsim/ifsim/internal/testnic/cqnic"
	"github.com/ifsim/ifsim/internal/testnic/cqnic/cqhw"

	"github.com/ifsim/ifsim/drivers/hw"
	"github.com/ifsim/ifsim/internal/testnic/rig"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	memSize = 48 << 20
	settle  = 3 * time.Second
)

// cqEntry is the driver of a test NIC that comes in two chips.
func cqEntry() machine.DriverEntry {
	return machine.DriverEntry{
		Driver:      &cqnic.Driver,
		New:         func(_ string, cfg hw.Config) (hw.NIC, error) { return cqhw.New(cfg) },
		Chips:       func() []string { return []string{"CQ-1", "CQ-2"} },
		DefaultChip: "CQ-1",
	}
}

// tree makes a machine directory of pairs of name and text.
func tree(files ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 0; i+1 < len(files); i += 2 {
		fsys[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return fsys
}

// box is a machine under test and what it printed.
type box struct {
	*machine.Machine
	t       testing.TB
	console *rig.Console
}

// stepped fills a configuration in for a repeatable machine: two CPUs, manual clock,
// all checks, and the test NIC.
func stepped(cfg machine.Config) machine.Config {
	cfg.Executor, cfg.Clock, cfg.Invariants = kern.Stepped, kern.ManualClock, true
	cfg.MemSize = memSize
	if cfg.NCPU == 0 {
		cfg.NCPU = 2
	}
	cfg.Drivers = append(cfg.Drivers, cqEntry())
	return cfg
}

// boot boots a stepped machine, which the test closes.
func boot(t testing.TB, cfg machine.Config) *box {
	t.Helper()
	b := &box{t: t, console: &rig.Console{}}
	cfg = stepped(cfg)
	cfg.Console = b.console
	m, err := machine.Boot(cfg)
	if err != nil {
		t.Fatalf("%v\n%s", err, b.console)
	}
	b.Machine = m
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(b.console)
		}
	})
	return b
}

// settle runs what is queued until links had the time to come up.
func (b *box) settle() {
	b.Kernel().RunUntilIdle()
	b.Kernel().Advance(settle)
	b.Kernel().RunUntilIdle()
}

// ifconfig runs a line whose output does not matter.
func (b *box) ifconfig(ifp *ifnet.Ifnet, words []string) error {
	_, err := b.Ifconfig(ifp, words)
	return err
}

func (b *box) text(oid string) string {
	b.t.Helper()
	s, err := b.Kernel().Sysctl.Text(oid)
	must(b.t, err)
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// lines cuts text into lines.
func lines(s string) []string { return strings.Split(strings.TrimSuffix(s, "\n"), "\n") }
