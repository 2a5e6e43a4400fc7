package ab

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ifsim/ifsim/internal/machine"
	"github.com/ifsim/ifsim/sysctl"
	"github.com/ifsim/ifsim/sysctl/sysctl8"
)

// maxArms bounds what is compared: each arm has a machine of its own.
const maxArms = 16

// Setting is a knob and its value.
type Setting struct {
	Knob, Value string
}

// Arm is one of the machines that are compared: the values of all knobs.
type Arm []Setting

// Name is what an arm is called in figures: its values.
func (a Arm) Name() string {
	values := make([]string, len(a))
	for i, s := range a {
		values[i] = s.Value
	}
	return strings.Join(values, " ")
}

// Parse reads knobs as KNOB=V1,V2. A value with a comma is in double quotes. Several knobs
// are crossed: each value of the one with each of the other. The first arm, with the first
// values, is what others are compared with.
func Parse(knobs []string) (arms []Arm, err error) {
	if len(knobs) == 0 {
		return nil, errors.New("no knob: KNOB=V1,V2 is needed")
	}
	arms = []Arm{nil}
	seen := make(map[string]bool)
	for _, text := range knobs {
		name, list, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%q is not KNOB=V1,V2", text)
		}
		values, err := csv.NewReader(strings.NewReader(list)).Read()
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("values of %s: %w", name, err)
		}
		distinct := slices.Compact(slices.Sorted(slices.Values(values)))
		switch {
		case seen[name]:
			return nil, fmt.Errorf("%s is there twice", name)
		case len(values) < 2 || len(distinct) != len(values):
			return nil, fmt.Errorf("%s has not two values or more that differ: %q", name, list)
		}
		seen[name] = true
		if arms = cross(arms, name, values); len(arms) > maxArms {
			return nil, fmt.Errorf("more than %d machines to compare", maxArms)
		}
	}
	return arms, nil
}

// cross gives each arm each of a knob's values.
func cross(arms []Arm, knob string, values []string) (crossed []Arm) {
	for _, a := range arms {
		for _, v := range values {
			crossed = append(crossed, append(slices.Clone(a), Setting{knob, v}))
		}
	}
	return crossed
}

// Env is the arm for the loader. What is no tunable takes no harm from it.
func (a Arm) Env() map[string]string {
	env := make(map[string]string, len(a))
	for _, s := range a {
		env[s.Knob] = s.Value
	}
	return env
}

// Apply makes sure that a machine that was booted with Env has the arm's values: tunables
// that it took are left, and variables are set. The error is what sysctl(8) says of a knob
// that there is not, or a value that is refused.
func (a Arm) Apply(m *machine.Machine) error {
	for _, s := range a {
		taken, err := s.taken(m.Kernel().Sysctl)
		if err == nil && !taken {
			err = s.set(m.Kernel().Sysctl)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// taken reports whether the knob is a tunable whose value was taken. An error: it can be
// set no other way, and was not.
func (s Setting) taken(t *sysctl.Tree) (bool, error) {
	o, err := t.Lookup(s.Knob)
	if err != nil || o.Flags()&sysctl.TUN == 0 || o.Kind() == sysctl.KindNode {
		return false, nil // sysctl says what is wrong, if anything is
	}
	want, err := sysctl.ParseValue(o.Kind(), o.Format(), s.Value)
	if err != nil {
		return false, err
	}
	got, err := t.ReadOID(o)
	if o.Kind() == sysctl.KindString {
		got = bytes.TrimSuffix(got, []byte{0})
	}
	switch {
	case err != nil:
		return false, fmt.Errorf("%s: %s", s.Knob, sysctl.Strerror(err))
	case bytes.Equal(want, got):
		return true, nil
	case o.Flags()&sysctl.WR != 0:
		return false, nil
	}
	has, err := t.Text(s.Knob)
	if err != nil {
		has = "another value"
	}
	return false, fmt.Errorf("%s=%s: the machine takes %s for it", s.Knob, s.Value, has)
}

// set sets a variable as sysctl(8) does.
func (s Setting) set(t *sysctl.Tree) error {
	var said bytes.Buffer
	if sysctl8.Run(t, []string{s.Knob + "=" + s.Value}, io.Discard, &said) == 0 {
		return nil
	}
	words := strings.ReplaceAll(strings.TrimSpace(said.String()), "\nsysctl: ", "; ")
	return errors.New(strings.TrimPrefix(words, "sysctl: "))
}
