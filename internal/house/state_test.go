package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// mutated reports the names of package variables that a file of the package
// assigns to, takes the address of, or increments after their declaration.
func mutated(files []*ast.File, vars map[string]token.Pos) map[string]token.Pos {
	found := map[string]token.Pos{}
	note := func(e ast.Expr) {
		for {
			switch x := e.(type) {
			case *ast.IndexExpr:
				e = x.X
				continue
			case *ast.SelectorExpr:
				e = x.X
				continue
			case *ast.ParenExpr:
				e = x.X
				continue
			case *ast.Ident:
				if x.Name == "_" {
					return // an interface assertion, not a variable
				}
				if _, isVar := vars[x.Name]; isVar && (x.Obj == nil || x.Obj.Kind == ast.Var && x.Obj.Pos() == vars[x.Name]) {
					found[x.Name] = x.Pos()
				}
			}
			return
		}
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch s := n.(type) {
			case *ast.FuncDecl:
				return s.Name.Name != "init" // tables may be filled at start-up
			case *ast.AssignStmt:
				if s.Tok != token.DEFINE {
					for _, l := range s.Lhs {
						note(l)
					}
				}
			case *ast.IncDecStmt:
				note(s.X)
			}
			return true
		})
	}
	return found
}

// syncTypes are the types whose only purpose is to be changed.
var syncTypes = []string{"sync.Mutex", "sync.RWMutex", "sync.Once", "sync.Pool", "sync.Map", "sync.WaitGroup", "atomic."}

func TestNoMutablePackageState(t *testing.T) {
	for _, p := range list(t) {
		fset := token.NewFileSet()
		var files []*ast.File
		vars := map[string]token.Pos{}
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
			for _, d := range f.Decls {
				g, ok := d.(*ast.GenDecl)
				if !ok || g.Tok != token.VAR {
					continue
				}
				for _, s := range g.Specs {
					v := s.(*ast.ValueSpec)
					for _, id := range v.Names {
						vars[id.Name] = id.Pos()
					}
					if typ := exprText(v.Type); typ != "" {
						for _, bad := range syncTypes {
							if strings.HasPrefix(typ, bad) {
								t.Errorf("%s: package variable %s is a %s", fset.Position(v.Pos()), v.Names[0], typ)
							}
						}
					}
				}
			}
		}
		for name, pos := range mutated(files, vars) {
			t.Errorf("%s: package variable %s is changed", fset.Position(pos), name)
		}
	}
}

func exprText(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return exprText(x.X) + "." + x.Sel.Name
	case *ast.IndexExpr:
		return exprText(x.X)
	}
	return ""
}
