package pciconf8_test

import (
	"bytes"
	"testing"

	"go.uber.org/goleak"

	"github.com/ifsim/ifsim/internal/ctl/pciconf8"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// boot boots a stepped machine with what the variables describe.
func boot(t testing.TB, env map[string]string) *machine.Machine {
	t.Helper()
	m, err := machine.Boot(machine.Config{Executor: kern.Stepped, Clock: kern.ManualClock, NCPU: 2, MemSize: 48 << 20, Env: env})
	must(t, err)
	t.Cleanup(func() { must(t, m.Close()) })
	return m
}

// run runs pciconf on a machine.
func run(m *machine.Machine, args ...string) (out, err string, exit int) {
	var stdout, stderr bytes.Buffer
	exit = pciconf8.Run(m.Slots(), args, &stdout, &stderr)
	return stdout.String(), stderr.String(), exit
}
