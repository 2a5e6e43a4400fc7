package metrics

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/metrics.md anew")

const documentPath = "../../docs/metrics.md"

// table is the table of the document.
func table() string {
	var b strings.Builder
	b.WriteString("| Metric | Type | Labels | Unit | Meaning | In FreeBSD |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, f := range families() {
		var labels []string
		for _, l := range f.labels {
			labels = append(labels, "`"+l+"`")
		}
		fmt.Fprintf(&b, "| `%s%s` | %s | %s | %s | %s | %s |\n", namespace, f.name, f.typ(), strings.Join(labels, ", "), f.unit, f.help, source(f.source))
	}
	return b.String()
}

// source is marked as code where it is a name and not a sentence.
func source(text string) string {
	if text == "none" {
		return ""
	}
	return "`" + text + "`"
}

var tablePattern = regexp.MustCompile(`(?m)^\| Metric \|.*\n(?:\|.*\n)+`)

func TestTheDocumentHasEveryMetric(t *testing.T) {
	text, err := os.ReadFile(documentPath)
	if err != nil {
		t.Fatal(err)
	}
	want := tablePattern.ReplaceAllLiteralString(string(text), table())
	if want == string(text) && strings.Contains(want, table()) {
		return
	}
	if !*update {
		t.Fatalf("docs/metrics.md has another table; go test ./internal/metrics -update writes\n%s", table())
	}
	if err := os.WriteFile(documentPath, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// dashboard is as much of a Grafana dashboard as is looked at.
type dashboard struct {
	Title         string `json:"title"`
	UID           string `json:"uid"`
	SchemaVersion int    `json:"schemaVersion"`
	Panels        []struct {
		ID         int    `json:"id"`
		Type       string `json:"type"`
		Title      string `json:"title"`
		GridPos    struct{ H, W, X, Y int }
		Datasource struct{ Type, UID string }
		Targets    []struct{ Expr, RefID string }
	} `json:"panels"`
	Templating struct {
		List []struct{ Name, Type, Query string }
	} `json:"templating"`
}

func TestDashboardsAskForWhatThereIs(t *testing.T) {
	document, err := os.ReadFile(documentPath)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../docs/grafana/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var d dashboard
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if d.Title == "" || d.UID == "" || d.SchemaVersion == 0 || len(d.Panels) == 0 {
			t.Errorf("%s: %q %q %d, %d panels", file, d.Title, d.UID, d.SchemaVersion, len(d.Panels))
		}
		for _, name := range regexp.MustCompile(namespace+`\w+`).FindAllString(string(text), -1) {
			if !strings.Contains(string(document), "| `"+name+"` |") {
				t.Errorf("%s asks for %s, which docs/metrics.md does not have", file, name)
			}
		}
		checkPanels(t, file, d)
	}
}

// checkPanels checks that panels are told apart, lie beside each other, and ask something.
func checkPanels(t *testing.T, file string, d dashboard) {
	t.Helper()
	const columns = 24
	ids := make(map[int]bool)
	cells := make(map[[2]int]string)
	for _, p := range d.Panels {
		if ids[p.ID] || p.ID == 0 || p.Title == "" {
			t.Errorf("%s: panel %d %q", file, p.ID, p.Title)
		}
		ids[p.ID] = true
		if p.Type != "row" && (len(p.Targets) == 0 || p.Datasource.Type != "prometheus") {
			t.Errorf("%s: %s asks nothing", file, p.Title)
		}
		if g := p.GridPos; g.W < 1 || g.H < 1 || g.X < 0 || g.X+g.W > columns {
			t.Errorf("%s: %s lies at %+v", file, p.Title, g)
		}
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if cells[at] != "" {
					t.Errorf("%s: %s covers %s", file, p.Title, cells[at])
				}
				cells[at] = p.Title
			}
		}
		refs := make(map[string]bool)
		for _, q := range p.Targets {
			if q.Expr == "" || refs[q.RefID] || q.RefID == "" {
				t.Errorf("%s: %s asks %q as %q", file, p.Title, q.Expr, q.RefID)
			}
			refs[q.RefID] = true
		}
	}
}
