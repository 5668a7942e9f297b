package causes

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// namedNumbers are the constants, and variables of one value, that the model's packages give a number: name to text.
func namedNumbers(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	set := token.NewFileSet()
	for _, dir := range []string{".", "fit", "machines", "model", "jobcost", "stats"} {
		packages, err := parser.ParseDir(set, dir, func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range packages {
			for path, file := range p.Files {
				source, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				ast.Inspect(file, func(n ast.Node) bool {
					d, ok := n.(*ast.GenDecl)
					if !ok || d.Tok != token.CONST && d.Tok != token.VAR {
						return true
					}
					for _, s := range d.Specs {
						v := s.(*ast.ValueSpec)
						for i, name := range v.Names {
							if i < len(v.Values) && isNumber(v.Values[i]) {
								from, to := set.Position(v.Values[i].Pos()).Offset, set.Position(v.Values[i].End()).Offset
								where := filepath.ToSlash(dir) + "."
								if dir == "." {
									where = ""
								}
								out[where+name.Name] = string(source[from:to])
							}
						}
					}
					return true
				})
			}
		}
	}
	return out
}

// isNumber reports whether an expression is made of numbers alone.
func isNumber(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.INT || e.Kind == token.FLOAT
	case *ast.BinaryExpr:
		return isNumber(e.X) && isNumber(e.Y)
	case *ast.ParenExpr:
		return isNumber(e.X)
	}
	return false
}

func TestX(t *testing.T) {
	for k, v := range namedNumbers(t) {
		fmt.Println(k, v)
	}
	_ = regexp.MustCompile
}
