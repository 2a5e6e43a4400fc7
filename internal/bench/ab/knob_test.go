package ab_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ifsim/ifsim/internal/bench/ab"
	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestKnobsAreCrossed(t *testing.T) {
	got, err := ab.Parse([]string{"a=1,2", `b.c="x,y",z`})
	if err != nil {
		t.Fatal(err)
	}
	want := []ab.Arm{
		{{"a", "1"}, {"b.c", "x,y"}},
		{{"a", "1"}, {"b.c", "z"}},
		{{"a", "2"}, {"b.c", "x,y"}},
		{{"a", "2"}, {"b.c", "z"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if name := got[2].Name(); name != "2 x,y" {
		t.Errorf("%q", name)
	}
}

func TestKnobsThatCompareNothing(t *testing.T) {
	for text, want := range map[string]string{
		"":            "no knob: KNOB=V1,V2 is needed",
		"a":           `"a" is not KNOB=V1,V2`,
		"=1,2":        `"=1,2" is not KNOB=V1,V2`,
		"a=":          `a has not two values or more that differ: ""`,
		"a=1":         `a has not two values or more that differ: "1"`,
		"a=1,2,1":     `a has not two values or more that differ: "1,2,1"`,
		"a=1,2 a=1,2": "a is there twice",
		`a="1,2`:      `values of a: parse error on line 1, column 5: extraneous or missing " in quoted-field`,
		"a=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17": "more than 16 machines to compare",
	} {
		if _, err := ab.Parse(strings.Fields(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// apply boots a machine with an em0 for an arm, and applies the arm to it.
func apply(t *testing.T, arm ab.Arm) (text func(name string) string, err error) {
	t.Helper()
	env := arm.Env()
	env["hint.em.0.port"] = "null"
	m, err := machine.Boot(machine.Config{Env: env, Executor: kern.Stepped, Clock: kern.ManualClock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return func(name string) string {
		v, err := m.Kernel().Sysctl.Text(name)
		if err != nil {
			t.Error(err)
		}
		return v
	}, arm.Apply(m)
}

func TestKnobsAreSetAsTheyCanBe(t *testing.T) {
	for _, s := range []ab.Setting{
		{"dev.em.0.iflib.simple_tx", "1"},        // of the loader only
		{"dev.em.0.iflib.override_ntxds", "512"}, // a string
		{"net.iflib.min_tx_latency", "1"},        // both
		{"dev.em.0.ifsim.led", "1"},              // not of the loader
		{"net.inet.ip.forwarding", "0x1"},        // written otherwise
	} {
		text, err := apply(t, ab.Arm{s})
		want := strings.TrimPrefix(s.Value, "0x")
		if err != nil || text(s.Knob) != want {
			t.Errorf("%v: %v, %q", s, err, text(s.Knob))
		}
	}
}

func TestWhatIsRefusedIsSaidInSysctlsWords(t *testing.T) {
	for _, c := range []struct {
		s    ab.Setting
		want string
	}{
		{ab.Setting{"no.such", "1"}, "unknown oid 'no.such'"},
		{ab.Setting{"dev.em", "1"}, "oid 'dev.em' isn't a leaf node"},
		{ab.Setting{"kern.ostype", "x"}, "oid 'kern.ostype' is read only"},
		{ab.Setting{"net.iflib.min_tx_latency", "x"}, "invalid integer 'x'"},
		{ab.Setting{"dev.em.0.fc", "77"}, "dev.em.0.fc=77: Invalid argument"},
		{ab.Setting{"dev.em.0.iflib.simple_tx", "y"}, "invalid uint8_t 'y'"},
		{ab.Setting{"net.iflib.simple_txbr_size", "1"}, "net.iflib.simple_txbr_size=1: the machine takes 256 for it"},
	} {
		if _, err := apply(t, ab.Arm{c.s}); err == nil || err.Error() != c.want {
			t.Errorf("%v: %v, want %s", c.s, err, c.want)
		}
	}
}
