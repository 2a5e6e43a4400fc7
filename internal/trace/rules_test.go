package trace

import (
	"slices"
	"testing"

	"github.com/ifsim/ifsim/internal/probe"
)

func TestRulesExplainPointsThatExist(t *testing.T) {
	for name, r := range rules {
		if !slices.ContainsFunc(probe.Points(), func(p probe.Point) bool { return p.Provider+":"+p.Name == name }) {
			t.Errorf("no trace point %s", name)
		}
		if r.who == "" || r.function == "" || r.explain == nil {
			t.Errorf("%s is not explained", name)
		}
	}
}
