package kern

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

func TestFailPointSettings(t *testing.T) {
	type result struct {
		value int
		hit   bool
	}
	no, r5, r6 := result{}, result{5, true}, result{6, true}
	for _, c := range []struct {
		setting string
		want    []result
		after   string // setting left
	}{
		{"off", []result{no, no}, "off"},
		{"return(5)", []result{r5, r5}, "return(5)"},
		{"return", []result{{0, true}}, "return"},
		{"return(-1)", []result{{-1, true}}, "return(-1)"},
		{"return(0x200000000)", []result{{0x200000000, true}}, "return(8589934592)"},
		{"2*return(5)", []result{r5, r5, no, no}, "off"},
		{"3*return(5)", []result{r5, r5}, "1*return(5)"},
		{"1*return(5)->1*off->return(6)", []result{r5, no, r6, r6}, "0*return(5)->0*off->return(6)"},
		{"0%return(5)->100%return(6)", []result{r6, r6}, "0%return(5)->100%return(6)"},
		{"1in1->return(5)", []result{r5}, "1in1->return(5)"},
		{"0in3->return(5)->return(6)", []result{r6}, "0in3->return(5)->return(6)"},
		{"print->return(5)", []result{no}, "print->return(5)"},
		{"print(1)->return(5)", []result{r5}, "print(1)->return(5)"},
		{"yield", []result{no}, "yield"},
		{" 50.25% 0*return(5) ", []result{no}, ""},
	} {
		k := newKernel(t, stepped(1))
		fp := k.FailPoint("mbuf.get")
		err := k.Sysctl.SetText("debug.fail_point.mbuf.get", c.setting)
		if c.after == "" {
			if !errors.Is(err, syscall.EINVAL) {
				t.Errorf("%q: %v, want EINVAL", c.setting, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.setting, err)
			continue
		}
		hits := uint64(0)
		for i, want := range c.want {
			v, hit := fp.Eval()
			if (result{v, hit}) != want {
				t.Errorf("%q: evaluation %d gives %v %v, want %v", c.setting, i, v, hit, want)
			}
			if hit {
				hits++
			}
		}
		if got, err := k.Sysctl.Text("debug.fail_point.mbuf.get"); err != nil || got != c.after {
			t.Errorf("%q: left with %q (%v), want %q", c.setting, got, err, c.after)
		}
		if fp.Hits() != hits {
			t.Errorf("%q: %d hits counted, want %d", c.setting, fp.Hits(), hits)
		}
		if printed := strings.Contains(k.Dmesg(), "fail point mbuf.get reached\n"); printed != strings.HasPrefix(c.setting, "print") {
			t.Errorf("%q: printed %v", c.setting, printed)
		}
	}
}

func TestFailPointRefusals(t *testing.T) {
	k := newKernel(t, stepped(0))
	fp := k.FailPoint("p")
	if err := fp.Set("return(7)"); err != nil {
		t.Fatal(err)
	}
	for setting, want := range map[string]syscall.Errno{
		"": syscall.EINVAL, "retrun": syscall.EINVAL, "return(": syscall.EINVAL, "return(x)": syscall.EINVAL,
		"return(1)x": syscall.EINVAL, "101%return": syscall.EINVAL, "-1%return": syscall.EINVAL,
		"1.23456%return": syscall.EINVAL, "%return": syscall.EINVAL, "x*return": syscall.EINVAL,
		"-1*return": syscall.EINVAL, "return->": syscall.EINVAL, "1in100": syscall.EINVAL,
		"1in0->return": syscall.EINVAL, "2in1->return": syscall.EINVAL, "1in2->50%return": syscall.EINVAL,
		"return(0x10000000000000000)": syscall.EINVAL, strings.Repeat("off->", maxFailTerms) + "off": syscall.EINVAL,
		"pause": syscall.EOPNOTSUPP, "sleep(10)": syscall.EOPNOTSUPP, "delay(1)": syscall.EOPNOTSUPP,
		"panic": syscall.EOPNOTSUPP, "1%break": syscall.EOPNOTSUPP,
	} {
		if err := fp.Set(setting); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", setting, err, want)
		}
		if fp.Setting() != "return(7)" {
			t.Fatalf("%q: the refused setting left %q", setting, fp.Setting())
		}
	}
}

func TestFailPointErrorValues(t *testing.T) {
	k := newKernel(t, stepped(0))
	fp := k.FailPoint("e")
	for setting, want := range map[string]error{"off": nil, "return": syscall.EIO, "return(12)": syscall.ENOMEM} {
		if err := fp.Set(setting); err != nil {
			t.Fatal(err)
		}
		if got := fp.Error(); got != want {
			t.Errorf("%q: %v, want %v", setting, got, want)
		}
	}
}

func TestFailPointIsMadeOnceAndReadsItsTunable(t *testing.T) {
	k := newKernel(t, Config{Executor: Stepped, Env: env(t, "debug.fail_point.busdma.load", "return(27)")})
	fp := k.FailPoint("busdma.load")
	if fp != k.FailPoint("busdma.load") {
		t.Error("two points of one name")
	}
	if v, hit := fp.Eval(); v != 27 || !hit {
		t.Errorf("%d %v, want the tunable's 27", v, hit)
	}
}

// hitPattern is the outcome of n evaluations as a bit string.
func hitPattern(t *testing.T, seed uint64, name, setting string, n int) string {
	k := newKernel(t, stepped(seed))
	fp := k.FailPoint(name)
	if err := fp.Set(setting); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for range n {
		if _, hit := fp.Eval(); hit {
			b.WriteByte('1')
		} else {
			b.WriteByte('0')
		}
	}
	return b.String()
}

func TestFailPointIsRepeatableAndAsFrequentAsAsked(t *testing.T) {
	const n = 20000
	a := hitPattern(t, 5, "x", "2.5%return", n)
	if a != hitPattern(t, 5, "x", "2.5%return", n) {
		t.Error("one seed, two sequences")
	}
	if a == hitPattern(t, 6, "x", "2.5%return", n) || a == hitPattern(t, 5, "y", "2.5%return", n) {
		t.Error("seed or name does not matter")
	}
	if a != hitPattern(t, 5, "x", "25000in1000000->return", n) {
		t.Error("percentage and odds differ")
	}
	hits := strings.Count(a, "1") // expected 500, standard deviation 22
	if hits < 400 || hits > 600 {
		t.Errorf("%d hits of %d at 2.5 %%", hits, n)
	}
}

func TestFailPointCountIsExactAmongGoroutines(t *testing.T) {
	k := newKernel(t, Config{})
	fp := k.FailPoint("x")
	if err := fp.Set("100000*return(1)"); err != nil {
		t.Fatal(err)
	}
	var hits atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50000 {
				if _, hit := fp.Eval(); hit {
					hits.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if hits.Load() != 100000 || fp.Setting() != "off" {
		t.Errorf("%d hits, setting %q", hits.Load(), fp.Setting())
	}
}

func FuzzFailPointSetting(f *testing.F) {
	for _, s := range []string{"off", "return(5)", "5*return(5)->0.1%return(22)", "1in100->return(5)", "print(1)->yield",
		"50%3*return(-7)", "1in2->1in3->off", "return(0x10)", "%%", "**", "(((", "->->"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := parseFailProgram(s)
		if err != nil {
			if !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.EOPNOTSUPP) {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		text := p.String()
		again, err := parseFailProgram(text)
		if err != nil || again.String() != text {
			t.Fatalf("%q prints as %q, which parses as %v, %v", s, text, again, err)
		}
		k := newKernel(t, stepped(1))
		fp := k.FailPoint("fuzz")
		if err := fp.Set(s); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			fp.Eval()
		}
	})
}
