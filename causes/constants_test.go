package causes

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestConstants compares MODEL.md's tables of constants with the code: every constant or single-valued variable with a number
// in the model's packages has a row with that number, and no row is for anything else.
func TestConstants(t *testing.T) {
	text, err := os.ReadFile("MODEL.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## Constants\n")
	if !found {
		t.Fatal("MODEL.md has no section of constants")
	}
	listed := map[string]bool{}
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) > 2 && !strings.Contains(cells[1], "---") && strings.TrimSpace(cells[1]) != "constant" {
			listed[strings.TrimSpace(cells[1])] = true
		}
	}
	var missing []string
	numbers := namedNumbers(t)
	for _, c := range numbers {
		if !listed[c] {
			missing = append(missing, c)
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		t.Errorf("MODEL.md does not list, with the values of the code:\n%s", strings.Join(slices.Compact(missing), "\n"))
	}
	for name := range listed {
		// a field of a prior has one
		if constant, _, _ := strings.Cut(name, " "); !slices.Contains(numbers, name) && !strings.Contains(constant, ".") {
			t.Errorf("MODEL.md lists %q, which the code does not have", name)
		}
	}
}

// namedNumbers returns the constants with numbers in the model's packages, as 'name number'.
func namedNumbers(t *testing.T) (out []string) {
	t.Helper()
	for _, files := range []string{"*.go", "fit/*.go", "machines/*.go", "model/*.go", "jobcost/*.go", "../stats/order.go", "../stats/robust.go"} {
		paths, err := filepath.Glob(files)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, source, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if v, ok := n.(*ast.ValueSpec); ok {
					for i, name := range v.Names {
						if i < len(v.Values) && isNumber(v.Values[i]) {
							out = append(out, name.Name+" "+string(source[set.Position(v.Values[i].Pos()).Offset:set.Position(v.Values[i].End()).Offset]))
						}
					}
				}
				return true
			})
		}
	}
	return out
}

// isNumber reports whether an expression consists of numbers only.
func isNumber(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.INT || e.Kind == token.FLOAT
	case *ast.BinaryExpr:
		return isNumber(e.X) && isNumber(e.Y)
	}
	return false
}
