package kern

import (
	"bytes"
	"errors"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/ifsim/ifsim/internal/physmem"
	"github.com/ifsim/ifsim/sysctl"
)

func TestDocExampleRunsOnBoundCPU(t *testing.T) {
	k := newKernel(t, stepped(0))
	task := k.NewTask("rx", func() { k.Printf("ran at tick %d\n", k.Ticks()) })
	task.Bind(1)
	if !task.Enqueue() || task.Enqueue() {
		t.Fatal("first Enqueue queues, second does not")
	}
	if n := k.RunUntilIdle(); n != 1 {
		t.Fatalf("%d steps, want 1", n)
	}
	if got := k.Dmesg(); got != "ran at tick 10000\n" {
		t.Fatalf("dmesg %q", got)
	}
}

func TestConfigIsCheckedAndTakenFromHints(t *testing.T) {
	for _, cfg := range []Config{{NCPU: -1}, {NCPU: MaxCPU + 1}, {NCPU: 1, ThreadsPerCore: -2}} {
		cfg.Mem = testMem
		if _, err := New(cfg); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("New(%+v) = %v, want EINVAL", cfg, err)
		}
	}
	k, err := New(Config{Mem: testMem, Executor: Stepped,
		Env: env(t, "hint.ifsim.0.ncpu", "6", "hint.ifsim.0.threads_per_core", "2")})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if k.NCPU() != 6 || k.PhysicalCPUs() != NewCPUSet(0, 2, 4) {
		t.Errorf("ncpu %d, physical %v", k.NCPU(), k.PhysicalCPUs())
	}
}

func TestSysctlsOfTheKernel(t *testing.T) {
	k := newKernel(t, Config{Executor: Stepped, NCPU: 4, ThreadsPerCore: 2, Verbose: true})
	for name, want := range map[string]string{"kern.ostype": "FreeBSD", "kern.hz": "1000", "hw.ncpu": "4",
		"kern.smp.threads_per_core": "2", "debug.bootverbose": "1", "hw.ifsim.lock": "mutex",
		"debug.lock.prof.enable": "0"} {
		if got, err := k.Sysctl.Text(name); err != nil || got != want {
			t.Errorf("%s = %q, %v; want %q", name, got, err, want)
		}
	}
	if err := k.Sysctl.SetText("debug.bootverbose", "0"); err != nil || k.Verbose() {
		t.Errorf("verbose %v, %v", k.Verbose(), err)
	}
}

func TestSlotsAreKeyedByType(t *testing.T) {
	type zones struct{ n int }
	type bus struct{ n int }
	k, other := newKernel(t, stepped(0)), newKernel(t, stepped(0))
	Attach(k, &zones{7})
	Attach(k, bus{8})
	if z, ok := Lookup[*zones](k); !ok || z.n != 7 {
		t.Errorf("zones %v %v", z, ok)
	}
	if b, ok := Lookup[bus](k); !ok || b.n != 8 {
		t.Errorf("bus %v %v", b, ok)
	}
	if _, ok := Lookup[zones](k); ok {
		t.Error("a value type found in a pointer's slot")
	}
	if _, ok := Lookup[*zones](other); ok {
		t.Error("kernels share a slot")
	}
}

func TestCloseRunsInReverseOrderOnce(t *testing.T) {
	for _, exec := range []Executor{Threads, Stepped} {
		k := mustNew(t, Config{Executor: exec})
		var order []int
		for i := range 3 {
			k.OnClose(func() {
				if !k.Closing() {
					t.Error("Closing is false in OnClose")
				}
				order = append(order, i)
			})
		}
		for range 2 {
			if err := k.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(order, []int{2, 1, 0}) {
			t.Errorf("order %v", order)
		}
	}
}

func TestCloseEndsEverythingInEveryMode(t *testing.T) {
	for _, exec := range []Executor{Threads, Stepped} {
		for _, clock := range []ClockKind{RealClock, ManualClock} {
			k := newKernel(t, Config{Executor: exec, Clock: clock})
			var m Mtx
			m.Init(k, "m")
			tq := k.NewTaskQueue("tq")
			tq.NewTask("t", func() {}).Enqueue()
			k.NewCallout("far", &m, func() {}).Reset(1<<30, 1)
			k.NewIntr("irq", 0, func() {}).Post()
			k.Spawn("thread", func() {
				for !k.Closing() {
					k.Delay(time.Millisecond)
				}
			})
		}
	}
}

func TestConsoleAndMessageBuffer(t *testing.T) {
	var out bytes.Buffer
	k := newKernel(t, Config{Executor: Stepped, Console: &out})
	k.Printf("em0: %s\n", "attached")
	if out.String() != "em0: attached\n" || k.Dmesg() != "em0: attached\n" {
		t.Fatalf("console %q dmesg %q", out.String(), k.Dmesg())
	}
	line := string(bytes.Repeat([]byte{'x'}, 1000)) + "\n"
	for range 100 {
		k.Printf("%s", line)
	}
	if n := len(k.Dmesg()); n != msgbufSize {
		t.Errorf("message buffer of %d bytes, want %d", n, msgbufSize)
	}
}

func TestBootVerboseIsTheLoadersWord(t *testing.T) {
	for value, want := range map[string]bool{"YES": true, "yes": true, "1": true, "NO": false, "no": false} {
		env := sysctl.NewKenv()
		if err := env.Set("boot_verbose", value); err != nil {
			t.Fatal(err)
		}
		k, err := New(Config{Env: env, Mem: physmem.Config{Size: 2 << 20}})
		if err != nil {
			t.Fatal(err)
		}
		if k.Verbose() != want {
			t.Errorf("boot_verbose=%s: verbose %v", value, k.Verbose())
		}
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	}
}
