package port_test

import (
	"errors"
	"syscall"
	"testing"

	"github.com/ifsim/ifsim/drivers/port"
	"github.com/ifsim/ifsim/drivers/port/null"
	"github.com/ifsim/ifsim/drivers/port/pair"
)

func TestOpenByName(t *testing.T) {
	f := port.NewFabric(pair.Kind(), null.Kind())
	for _, spec := range []string{"null", "pair:w"} {
		p, err := f.Open(spec)
		if err != nil {
			t.Fatal(err)
		}
		if p.Name() != spec {
			t.Errorf("name %q, want %q", p.Name(), spec)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestUnknownKindListsTheKnownOnes(t *testing.T) {
	f := port.NewFabric(pair.Kind(), null.Kind())
	_, err := f.Open("xdp:eth0")
	if !errors.Is(err, syscall.ENODEV) {
		t.Fatalf("error %v, want ENODEV", err)
	}
	want := `opening port "xdp:eth0": unknown kind "xdp" (known: null, pair): no such device`
	if err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
	if p, err := f.Open("null:x"); p != nil || !errors.Is(err, syscall.EINVAL) {
		t.Errorf("null with an argument: %v, %v, want EINVAL", p, err)
	}
}

func TestCompletionsAreTakenOnce(t *testing.T) {
	c := new(port.Completions)
	c.Add(port.MaxQueues-1, 3, 1)
	c.Add(port.MaxQueues-1, 2, 0)
	if got := [3]int{c.Take(port.MaxQueues - 1), c.Take(port.MaxQueues - 1), c.TakeErrors(port.MaxQueues - 1)}; got != [3]int{5, 0, 1} {
		t.Errorf("taken %v", got)
	}
}

func TestCauseNames(t *testing.T) {
	for c := range port.NumCauses {
		if c.String() == "" || c.String() == "unknown cause" {
			t.Errorf("cause %d has no name", c)
		}
	}
	if port.NumCauses.String() != "unknown cause" {
		t.Error("a cause too many")
	}
}
