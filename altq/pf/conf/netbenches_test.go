package conf_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/altq/pf/conf"
)

// netbenchesEnv names a directory with more configurations of real routers, one folder
// each; testdata has a few of them.
const netbenchesEnv = "IFSIM_NETBENCHES"

func TestRulesOfNetbenchesLoad(t *testing.T) {
	files, err := filepath.Glob("testdata/netbenches/*/etc/pf.conf")
	if err != nil || len(files) == 0 {
		t.Fatalf("files %q, %v", files, err)
	}
	if more := os.Getenv(netbenchesEnv); more != "" {
		f, err := filepath.Glob(filepath.Join(more, "*", "etc", "pf.conf"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f...)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tables := strings.Contains(string(text), "table <")
		cfg, msgs, ok := conf.Parse(file, string(text), conf.Options{})
		if ok == tables {
			t.Errorf("%s: loads %v: %v", file, ok, msgs)
		}
		if tables {
			// What is left out is the table and the rule with it; nothing else.
			var at []int
			cfg, msgs, ok = conf.Parse(file, string(text), conf.Options{Lax: true})
			for _, m := range msgs {
				at = append(at, m.Pos.Line)
				if !m.Warning || !strings.HasPrefix(m.Text, "table: not in the subset") {
					t.Errorf("%s", m)
				}
			}
			var want []int
			for i, line := range strings.Split(string(text), "\n") {
				if strings.Contains(line, "<t>") && !strings.HasPrefix(line, "#") {
					want = append(want, i+1)
				}
			}
			if !ok || !slices.Equal(at, want) {
				t.Errorf("%s: loads %v, left out lines %v, want %v", file, ok, at, want)
			}
		}
		if len(cfg.Rules) == 0 || !slices.Equal(cfg.Skip, []string{"lo0"}) {
			t.Errorf("%s: %d rules, skip %q", file, len(cfg.Rules), cfg.Skip)
		}
	}
}

func TestRulesOfARealRouterAreUnderstood(t *testing.T) {
	text, err := os.ReadFile("testdata/netbenches/089-Intel-i350-10/etc/pf.conf")
	if err != nil {
		t.Fatal(err)
	}
	cfg, _ := load(t, string(text))
	var want strings.Builder
	for i := '1'; i <= '9'; i++ {
		want.WriteString("block drop inet from 1.1." + string(i) + ".0/24 to any\n")
	}
	want.WriteString("pass all no state\n")
	if d := cmp.Diff(want.String(), rules(cfg)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
