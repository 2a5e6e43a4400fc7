package dump8

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ifsim/ifsim/internal/ctl/tool"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
)

func boot(t *testing.T) *machine.Machine {
	t.Helper()
	m, err := machine.Boot(machine.Config{
		NCPU: 2, MemSize: 64 << 20, Executor: kern.Stepped, Clock: kern.ManualClock, Invariants: true,
		Env: map[string]string{"hint.em.0.port": "null", "hint.igc.0.port": "null"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, name := range []string{"em0", "igc0"} {
		if err := m.Up(name); err != nil {
			t.Fatal(err)
		}
	}
	m.Kernel().Advance(time.Second)
	return m
}

func dump(m *machine.Machine, args string) (stdout, stderr string, exit int) {
	var out, errs bytes.Buffer
	exit = Run(m, strings.Fields(args), tool.IO{Stdout: &out, Stderr: &errs})
	return out.String(), errs.String(), exit
}

func TestDevicesAreChosenByName(t *testing.T) {
	m := boot(t)
	for _, c := range []struct {
		args, stderr string
		exit         int
		devices      []string
	}{
		{"", "", 0, []string{"em0", "igc0"}},
		{"igc0", "", 0, []string{"igc0"}},
		{"-a igc0 em0", "", 0, []string{"igc0", "em0"}},
		{"em1", "dump: em1: no such device is attached\n", 1, nil},
		{"-x", "dump: illegal option -- x\n" + string(usageText), 1, nil},
	} {
		stdout, stderr, exit := dump(m, c.args)
		var devices []string
		for _, line := range strings.Split(stdout, "\n") {
			if name, _, ok := strings.Cut(line, ": running"); ok {
				devices = append(devices, name)
			}
		}
		if stderr != c.stderr || exit != c.exit || strings.Join(devices, " ") != strings.Join(c.devices, " ") {
			t.Errorf("dump %s: devices %q, %q, exit %d", c.args, devices, stderr, exit)
		}
		if exit == 0 && !strings.HasSuffix(stdout, "\n  unaccounted for: none\n") {
			t.Errorf("dump %s ends with %q", c.args, stdout[max(0, len(stdout)-200):])
		}
	}
}

func TestADumpInJSONHasTheSameNumbers(t *testing.T) {
	m := boot(t)
	stdout, _, exit := dump(m, "-o json em0")
	var doc struct {
		Device []struct {
			Name     string
			Running  bool
			Queue    []struct{ Name string }
			Register []struct {
				Name  string
				Value *uint64
			}
		}
		Mbufs struct {
			InUse       []map[string]any `json:"in-use"`
			Held        []map[string]any
			Unaccounted []map[string]any
		}
	}
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || exit != 0 {
		t.Fatalf("%v, exit %d: %.300s", err, exit, stdout)
	}
	d := doc.Device[0]
	if len(doc.Device) != 1 || d.Name != "em0" || !d.Running || len(d.Queue) != 4 || d.Queue[2].Name != "receive queue 0" || d.Register[0].Name != "CTRL" || *d.Register[0].Value == 0 {
		t.Errorf("%+v", d)
	}
	if len(doc.Mbufs.InUse) != 1 || doc.Mbufs.InUse[0]["zone"] != "mbuf_packet" || doc.Mbufs.Held[0]["count"] != doc.Mbufs.InUse[0]["count"] || len(doc.Mbufs.Unaccounted) != 0 {
		t.Errorf("%+v", doc.Mbufs)
	}
	short := len(stdout)
	if stdout, _, _ := dump(m, "-a -o json em0"); len(stdout) < 2*short {
		t.Errorf("with -a %d bytes, without %d", len(stdout), short)
	}
}
