package machine_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ifsim/ifsim/internal/kern"
	"github.com/ifsim/ifsim/internal/machine"
	"github.com/ifsim/ifsim/sysctl"
)

const (
	projectRoot  = "../.."
	tunablesPage = "docs/tunables.md"
)

// documentedKnob is a row of the page.
type documentedKnob struct {
	name    string
	pattern *regexp.Regexp
	cells   []string // those behind the name
}

// documentedKnobs are the rows of docs/tunables.md whose first cell is a name in code font.
func documentedKnobs(t *testing.T) []documentedKnob {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(projectRoot, tunablesPage))
	must(t, err)
	var knobs []documentedKnob
	for _, line := range lines(string(page)) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		name := strings.Trim(cells[0], "`")
		expr := strings.NewReplacer("N", "[0-9]+", "<drv>", "[a-z]+").Replace(strings.ReplaceAll(name, ".", `\.`))
		knobs = append(knobs, documentedKnob{name, regexp.MustCompile("^" + expr + "$"), cells[1:]})
	}
	if len(knobs) == 0 {
		t.Fatalf("%s has no table", tunablesPage)
	}
	return knobs
}

// tunables are the leaves of the tree that can be set, by the loader or later. The tree's
// own answers to sysctl(8) are not among them.
func tunables(tree *sysctl.Tree) []*sysctl.OID {
	var list []*sysctl.OID
	for o := tree.Next(tree.Root(), true); o != nil; o = tree.Next(o, true) {
		if o.Kind() != sysctl.KindNode && o.Flags()&(sysctl.WR|sysctl.TUN) != 0 && !strings.HasPrefix(o.FullName(), "sysctl.") {
			list = append(list, o)
		}
	}
	return list
}

func flagText(f sysctl.Flag) string {
	text := "RD"
	if f&sysctl.WR != 0 {
		text = "RW"
	}
	if f&sysctl.TUN != 0 {
		text += "TUN"
	}
	return text
}

// allKnobs boots a machine with an em of each class and one of a hub, an igb and an igc.
// Nothing but the hints is set.
func allKnobs(t *testing.T, invariants bool) *machine.Machine {
	t.Helper()
	m, err := machine.Boot(machine.Config{
		Executor: kern.Stepped, Clock: kern.ManualClock, NCPU: 2, MemSize: memSize, Invariants: invariants,
		Env: map[string]string{"hint.em.0.port": "null", "hint.em.1.device": "82545EM", "hint.em.2.device": "I217-V",
			"hint.igb.0.port": "null", "hint.igc.0.port": "null"},
	})
	must(t, err)
	t.Cleanup(func() { must(t, m.Close()) })
	for _, name := range []string{"em0", "em1", "em2", "igb0", "igc0"} {
		if m.Ctx(name) == nil {
			t.Fatalf("%s did not attach", name)
		}
	}
	return m
}

func TestEveryTunableIsDocumentedAsItIs(t *testing.T) {
	knobs := documentedKnobs(t)
	seen := map[string]bool{}
	for _, invariants := range []bool{true, false} {
		tree := allKnobs(t, invariants).Kernel().Sysctl
		for _, o := range tunables(tree) {
			i := slices.IndexFunc(knobs, func(k documentedKnob) bool { return k.pattern.MatchString(o.FullName()) })
			if i < 0 {
				t.Errorf("%s does not name %s", tunablesPage, o.FullName())
				continue
			}
			seen[knobs[i].name] = true
			checkKnob(t, tree, o, knobs[i])
		}
	}
	env := environmentNames(t)
	for _, k := range knobs {
		if !seen[k.name] && !env[k.name] && !strings.HasPrefix(k.name, "hint.") {
			t.Errorf("%s names %s, which no machine has", tunablesPage, k.name)
		}
	}
}

// checkKnob compares an OID with its row: type, flags, and a default in code font.
func checkKnob(t *testing.T, tree *sysctl.Tree, o *sysctl.OID, k documentedKnob) {
	t.Helper()
	const typeCell, flagsCell, defaultCell, cells = 0, 1, 2, 5
	if len(k.cells) != cells {
		t.Fatalf("%s: the row of %s has %d cells", tunablesPage, k.name, len(k.cells)+1)
	}
	if want := o.Kind().String(); k.cells[typeCell] != want {
		t.Errorf("%s: type of %s is %q, not %q", tunablesPage, o.FullName(), want, k.cells[typeCell])
	}
	if want := flagText(o.Flags()); k.cells[flagsCell] != want {
		t.Errorf("%s: flags of %s are %s, not %s", tunablesPage, o.FullName(), want, k.cells[flagsCell])
	}
	value, exact := strings.CutPrefix(k.cells[defaultCell], "`")
	if !exact {
		return
	}
	want, err := tree.Text(o.FullName())
	must(t, err)
	if want == "" {
		want = `""`
	}
	if value = strings.TrimSuffix(value, "`"); value != want {
		t.Errorf("%s: default of %s is %q, not %q", tunablesPage, o.FullName(), want, value)
	}
}

func TestEveryHintIsDocumented(t *testing.T) {
	documented := map[string]bool{}
	for _, k := range documentedKnobs(t) {
		if strings.HasPrefix(k.name, "hint.") {
			documented[k.name[strings.LastIndexByte(k.name, '.')+1:]] = true
		}
	}
	known := literals(t, map[string]int{"Hint": 2, "HintInt": 2, "hint": 1, "nanoseconds": 1, "choose": 1})
	if len(known) == 0 {
		t.Fatal("no hint is read")
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if !documented[name] {
			t.Errorf("%s does not name the hint %s", tunablesPage, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(documented)) {
		if !known[name] {
			t.Errorf("%s names the hint %s, which nothing reads", tunablesPage, name)
		}
	}
}

// environmentNames are the variables that are read from the environment by name.
func environmentNames(t *testing.T) map[string]bool {
	return literals(t, map[string]int{
		"Get": 0, "FetchInt": 0, "FetchInt64": 0, "FetchUint64": 0, "FetchBool": 0, "FetchString": 0,
	})
}

var plainName = regexp.MustCompile(`^[a-z][a-z_]*$`)

// literals are the names that the project's source passes to functions of the names given,
// which have them at that position. Where the argument is no literal they stand in a table of
// the same function.
func literals(t *testing.T, position map[string]int) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	add := func(e ast.Node) {
		lit, ok := e.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return
		}
		if s, err := strconv.Unquote(lit.Value); err == nil && plainName.MatchString(s) {
			found[s] = true
		}
	}
	for _, fn := range functions(t) {
		ast.Inspect(fn, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			at, ok := position[calledName(call)]
			if !ok || at >= len(call.Args) {
				return true
			}
			if _, ok := call.Args[at].(*ast.BasicLit); ok {
				add(call.Args[at])
				return true
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				if table, ok := n.(*ast.CompositeLit); ok {
					for _, e := range table.Elts {
						add(e)
					}
				}
				return true
			})
			return true
		})
	}
	return found
}

func calledName(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.Ident:
		return f.Name
	}
	return ""
}

// functions are all functions of the project but those of tests.
func functions(t *testing.T) []*ast.FuncDecl {
	t.Helper()
	var list []*ast.FuncDecl
	must(t, filepath.WalkDir(projectRoot, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				list = append(list, fn)
			}
		}
		return nil
	}))
	return list
}
