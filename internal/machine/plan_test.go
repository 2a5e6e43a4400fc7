package machine_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
)

var update = flag.Bool("update", false, "write the plans in testdata anew")

// dryRun boots a directory with the drivers that every machine has, nothing plugged in, and
// returns its plan and its warnings.
func dryRun(t *testing.T, cfg machine.Config) (plan string, warnings []string) {
	t.Helper()
	cfg.DryRun, cfg.Executor, cfg.Clock, cfg.NCPU = true, kern.Stepped, kern.ManualClock, 2
	m, err := machine.Boot(cfg)
	must(t, err)
	defer func() { must(t, m.Close()) }()
	var b bytes.Buffer
	must(t, m.WritePlan(&b))
	return b.String(), m.Warnings()
}

func TestPlansOfRealRouters(t *testing.T) {
	for _, name := range []string{"036-Intel-i210AT-txabdicate-off", "120-Chelsio-T540-CR-bridge", "206-Intel-X540-AT2-ix0-core1-8-ix1-core9-16", "418-Mellanox-ConnectX-3-forwarding"} {
		got, _ := dryRun(t, machine.Config{Files: os.DirFS(filepath.Join("testdata", "netbenches", name))})
		golden := filepath.Join("testdata", "plans", name+".txt")
		if *update {
			must(t, os.WriteFile(golden, []byte(got), 0o644))
		}
		want, err := os.ReadFile(golden)
		must(t, err)
		if diff := cmp.Diff(lines(string(want)), lines(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestDryRunOpensNoPortAndTellsKindsApart(t *testing.T) {
	cfg := machine.Config{Env: map[string]string{
		"hint.em.0.port": "packet:nowhere0", "hint.igb.0.port": "pair:w", "hint.igb.1.port": "pair:w", "hint.igc.2.port": "pair:w",
		"hint.igc.3.disabled": "1",
	}}
	got, warnings := dryRun(t, cfg)
	want := `NICs
	em0: 82574L at pci0:2:0:0, port packet:nowhere0 (environment)
	igb0: I210 at pci0:3:0:0, port pair:w (environment)
	igb1: I210 at pci0:4:0:0, port pair:w (environment)
	igc2: I225-V at pci0:5:0:0, port pair:w (environment)
	igc3: I225-V at pci0:6:0:0, port null, not attached (environment)
Interfaces
	em0: down mtu 1500
	igb0: down mtu 1500
	igb1: down mtu 1500
	igc2: down mtu 1500
`
	if diff := cmp.Diff(lines(want), lines(got)); diff != "" || len(warnings) != 0 {
		t.Errorf("warnings %q, plan (-want +got):\n%s", warnings, diff)
	}
	cfg.Env["hint.em.0.port"] = "pigeon:1"
	cfg.DryRun = true
	if m, err := machine.Boot(stepped(cfg)); err == nil {
		t.Errorf("an unknown kind of port was taken: %v", m.Close())
	}
}

func TestPlanTellsWhatIsSetAndWhatItIs(t *testing.T) {
	got, _ := dryRun(t, machine.Config{Files: tree(
		"boot/loader.conf", "dev.igb.0.iflib.simple_tx=0\ndev.igb.0.iflib.tx_abdicate=1\nnet.iflib.no_tx_batch=1\n",
		"etc/rc.conf", "sshd_enable=YES\nunset=$gateway_enable\ngateway_enable=YES\npf_enable=YES\n",
		"etc/sysctl.conf", "# as measured\ndev.igb.0.iflib.simple_tx=1\nkern.ipc.maxsockbuf = 1\n",
		"etc/pf.conf", "pass all\n",
	)})
	want := `NICs
	igb0: I210 at pci0:2:0:0, port null (boot/loader.conf:1)
Interfaces
	igb0: down mtu 1500
Packet filter
	enabled, 1 rules
Settings
	boot/loader.conf:1: dev.igb.0.iflib.simple_tx=0
	boot/loader.conf:2: dev.igb.0.iflib.tx_abdicate=1
	boot/loader.conf:3: net.iflib.no_tx_batch=1, no loader tunable, is 0
	etc/rc.conf:3: net.inet.ip.forwarding=1
	etc/sysctl.conf:2: dev.igb.0.iflib.simple_tx=1, is 0
Without effect
	etc/rc.conf:1: sshd_enable
	etc/rc.conf:2: unset
Warnings
	etc/sysctl.conf: sysctl: oid 'dev.igb.0.iflib.simple_tx' is a read only tunable at line 2
	etc/sysctl.conf: sysctl: Tunable values are set in /boot/loader.conf
	etc/sysctl.conf: sysctl: unknown oid 'kern.ipc.maxsockbuf' at line 3
`
	if diff := cmp.Diff(lines(want), lines(got)); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

// knownKnobs begin the names of knobs of which none may be warned of: those of iflib and of
// the drivers that there are. hw.igb is gone since the drivers are one (spec 1g 10), as are
// the knobs that iflib's override replaced.
var knownKnobs = []string{"dev.em.", "dev.igb.", "dev.igc.", "net.iflib.", "net.link.", "kern.ipc."}

func TestEveryRouterOfNetbenchesHasAPlan(t *testing.T) {
	const patience = 10 * time.Second // of a loaded machine; alone it is some 50 ms
	step := 1
	if testing.Short() {
		step = 16
	}
	dirs := routerDirs(t)
	for i := 0; i < len(dirs); i += step {
		start := time.Now()
		plan, warnings := dryRun(t, machine.Config{Files: os.DirFS(dirs[i])})
		if took := time.Since(start); took > patience {
			t.Errorf("%s took %v", dirs[i], took)
		}
		for _, w := range warnings {
			for _, knob := range knownKnobs {
				if strings.Contains(w, knob) && !strings.Contains(w, ".simple_tx") {
					t.Errorf("%s: %s", dirs[i], w)
				}
			}
			if strings.Count(plan, w+"\n") != 1 {
				t.Errorf("%s: not once in the plan: %s", dirs[i], w)
			}
		}
	}
}
