package trace_test

import (
	"bytes"
	"testing"
	"testing/fstest"

	"go.uber.org/goleak"

	"github.com/ifsim/ifsim/internal/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// nic is a machine with one 82574L on a null port; paths are its tunables by path.
var (
	nic = fstest.MapFS{
		"boot/device.hints": {Data: []byte("hint.em.0.device=\"82574L\"\nhint.em.0.port=\"null\"\nhint.ifsim.0.ncpu=\"2\"\n")},
		"etc/rc.conf":       {Data: []byte("hostname=\"class\"\nifconfig_em0=\"up\"\n")},
	}
	paths = map[string]string{"mp_ring": "1", "simple_tx": "0"}
)

// run traces n packets along a path; env are further tunables, name and value.
func run(t *testing.T, path string, n int, env ...string) *trace.Result {
	t.Helper()
	cfg := trace.Config{Files: nic, Packets: n, Env: map[string]string{"net.iflib.prefer_mpring": paths[path]}}
	for i := 0; i+1 < len(env); i += 2 {
		cfg.Env[env[i]] = env[i+1]
	}
	res, err := trace.Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if res.Path != path {
		t.Fatalf("traced %s, want %s", res.Path, path)
	}
	return res
}

func text(t *testing.T, r *trace.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
