package newdriver_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ifsim/ifsim/iflib/iflibtest"
)

const guide = "docs/writing-a-driver.md"

// readGuide is the document that goes through the example.
func readGuide(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(checkout, guide))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestGuideExplainsEveryRuleOfTheSuite(t *testing.T) {
	_, rules, ok := strings.Cut(readGuide(t), "\n## Rules\n")
	if !ok {
		t.Fatal("no chapter about rules")
	}
	var headings, want []string
	for _, m := range regexp.MustCompile(`(?m)^### (.*)$`).FindAllStringSubmatch(rules, -1) {
		headings = append(headings, guide+"#"+m[1])
	}
	for _, r := range iflibtest.Rules() {
		want = append(want, r.Doc)
	}
	slices.Sort(headings)
	slices.Sort(want)
	if diff := cmp.Diff(want, headings); diff != "" {
		t.Errorf("rules of the suite (-) and chapters of the document (+):\n%s", diff)
	}
}

func TestGuideQuotesTheExample(t *testing.T) {
	var sources strings.Builder
	for _, dir := range []string{"drivers/skel", "internal/newdriver/skelboot"} {
		for _, text := range tree(t, filepath.Join(checkout, dir)) {
			sources.WriteString(text)
		}
	}
	quotes := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(readGuide(t), -1)
	if len(quotes) == 0 {
		t.Error("the document quotes nothing")
	}
	for _, q := range quotes {
		if !strings.Contains(sources.String(), q[1]) {
			t.Errorf("this is not in the example:\n%s", q[1])
		}
	}
}

// Every method that iflib may call is in the table of who calls it and when.
func TestGuideNamesEveryMethod(t *testing.T) {
	text := readGuide(t)
	for _, name := range []string{"device.go", "txrx.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(checkout, "iflib", name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			i, ok := n.(*ast.InterfaceType)
			if !ok {
				return true
			}
			for _, m := range i.Methods.List {
				for _, id := range m.Names {
					if !regexp.MustCompile(`(?m)^\|.*` + "`" + id.Name + "[`(]").MatchString(text) {
						t.Errorf("%s of iflib/%s is not in the table", id.Name, name)
					}
				}
			}
			return false
		})
	}
}
