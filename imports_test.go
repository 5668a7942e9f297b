package straggler

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The table of packages in ARCHITECTURE.md is the law about imports; this holds the code against it.

const module = "straggler"

// drivers are the modules that speak to databases. Only the engines may.
// database/sql is linked by modules that give their types its methods.
var (
	drivers    = []string{"github.com/duckdb/", "github.com/marcboeker/", "github.com/beltran/gohive"}
	mayNotCall = append([]string{"database/sql"}, drivers...)
)

// rule is a row of the table.
type rule struct {
	pkg     string
	allowed []string // packages; "all" is all of them
	family  bool     // "its sub-packages": those of the first package that it may import
}

// readRules parses the rows that look like: | `pkg` | its one job | may import |
func readRules(t *testing.T) []rule {
	t.Helper()
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	var rules []rule
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`") {
			continue
		}
		r := rule{pkg: strings.Trim(strings.TrimSpace(cells[1]), "`")}
		for _, word := range strings.Split(cells[3], ",") {
			switch word = strings.Trim(strings.TrimSpace(word), "`"); word {
			case "–":
			case "its sub-packages":
				r.family = true
			default:
				r.allowed = append(r.allowed, word)
			}
		}
		rules = append(rules, r)
	}
	if len(rules) < 8 {
		t.Fatalf("ARCHITECTURE.md has a table of %d packages, which cannot be all", len(rules))
	}
	return rules
}

// ruleOf returns the row that a package is under: its own, that of all sub-packages of its parent, which ends in /*, or that of
// the nearest package above it.
func ruleOf(rules []rule, pkg string) *rule {
	for p := pkg; p != "."; p = path.Dir(p) {
		for _, name := range []string{p, path.Dir(p) + "/*"} {
			if i := slices.IndexFunc(rules, func(r rule) bool { return r.pkg == name }); i >= 0 {
				return &rules[i]
			}
		}
	}
	return nil
}

// allows reports whether a package under the rule may import another.
func (r *rule) allows(rules []rule, imported string) bool {
	target := ruleOf(rules, imported)
	if target == nil {
		return false
	}
	if target == r && !strings.HasSuffix(r.pkg, "/*") || slices.Contains(r.allowed, "all") || slices.Contains(r.allowed, imported) {
		return true
	}
	if r.family && strings.HasPrefix(imported, r.allowed[0]+"/") {
		return true
	}
	// A package that may be imported brings the ones below it that have no row of their own.
	return slices.Contains(r.allowed, target.pkg)
}

// imports returns what each package imports, by package directory.
func imports(t *testing.T, tests bool) map[string][]string {
	t.Helper()
	found := make(map[string][]string)
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || name != "." && strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") != tests {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(filepath.Dir(name))
		for _, spec := range f.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			found[pkg] = append(found[pkg], p)
		}
		if len(f.Imports) == 0 {
			found[pkg] = append(found[pkg], []string{}...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestImports(t *testing.T) {
	rules := readRules(t)
	for _, r := range rules {
		if info, err := os.Stat(strings.TrimSuffix(r.pkg, "/*")); err != nil || !info.IsDir() {
			t.Errorf("ARCHITECTURE.md has a row for %s, which is no package", r.pkg)
		}
	}
	for pkg, paths := range imports(t, false) {
		r := ruleOf(rules, pkg)
		if r == nil {
			t.Errorf("package %s has no row in ARCHITECTURE.md", pkg)
			continue
		}
		for _, p := range paths {
			if p, ok := strings.CutPrefix(p, module+"/"); ok && !r.allows(rules, p) {
				row := "the row of " + r.pkg
				if r.pkg != pkg && r.pkg != pkg+"/*" {
					row = pkg + " has no row of its own, and that of " + r.pkg
				}
				t.Errorf("%s imports %s: %s in ARCHITECTURE.md does not allow it", pkg, p, row)
			}
		}
	}
}

func TestOnlyEnginesKnowDatabases(t *testing.T) {
	for _, tests := range []bool{false, true} {
		for pkg, paths := range imports(t, tests) {
			for _, p := range paths {
				if pkg != "engine/duckdb" && !strings.HasPrefix(pkg+"/", "engine/spark/") && hasPrefix(mayNotCall, p) {
					t.Errorf("%s imports %s: only the engines speak to databases", pkg, p)
				}
			}
		}
	}
}

// linked are packages and what is not to be linked into those who use them, however many packages lie between.
var linked = []struct {
	pkgs      []string
	forbidden []string
}{
	{[]string{"detect", "causes", "whatif", "report", "audit", "table", "engine", "store"}, drivers},
}

func TestWhatIsLinked(t *testing.T) {
	for _, l := range linked {
		for _, pkg := range l.pkgs {
			out, err := exec.Command("go", "list", "-deps", "./"+pkg).Output()
			if err != nil {
				t.Fatalf("go list -deps ./%s: %v", pkg, err)
			}
			for _, p := range strings.Fields(string(out)) {
				if hasPrefix(l.forbidden, p) {
					t.Errorf("%s links %s", pkg, p)
				}
			}
		}
	}
}

func hasPrefix(prefixes []string, p string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(p, prefix) })
}

// The rules can tell wrong from right: without this, a table that is read wrongly would allow everything.
func TestRulesForbid(t *testing.T) {
	rules := readRules(t)
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"store", "schema", true}, {"schema", "store", false}, {"ingest/spark", "ingest", true}, {"ingest", "schema", true}, {"ingest", "store", false},
		{"ingest/spark", "store", false}, {"ingest/spark", "ingest/hadoop", false}, {"ingest/spark", "ingest/read/pull", true},
		{"ingest/spark", "detect", false}, {"ingest/formats", "ingest/spark", true}, {"detect", "report", false},
		{"store", "engine", false}, {"engine", "engine/duckdb", false}, {"detect", "engine", true},
		{"detect", "engine/duckdb", false}, {"report", "cmd/straggler", false}, {"cmd/straggler", "report", true}, {"causes", "whatif", false},
	} {
		if r := ruleOf(rules, c.from); r == nil || r.allows(rules, c.to) != c.want {
			t.Errorf("%s importing %s is allowed: want %v", c.from, c.to, c.want)
		}
	}
}

// A format can be built and tested without a database, a cloud or Thrift; only the engine for Spark links the latter.
func TestFormatsAreLight(t *testing.T) {
	heavy := append([]string{module + "/store", module + "/engine", "cloud.google.com/", "golang.org/x/oauth2/", "github.com/minio/", "github.com/colinmarc/",
		"github.com/jcmturner/", "github.com/apache/thrift/"}, drivers...)
	rules := readRules(t)
	var formats []string
	for pkg := range imports(t, false) {
		if r := ruleOf(rules, pkg); r != nil && (r.pkg == "ingest/*" || r.pkg == "ingest/spark") {
			formats = append(formats, "./"+pkg)
		}
	}
	if len(formats) < 12 {
		t.Fatalf("%d formats, which cannot be all", len(formats))
	}
	for _, pkg := range append(formats, "./ingest/read/...", "./ingest/ingesttest") {
		for _, d := range dependencies(t, pkg) {
			if hasPrefix(heavy, d) {
				t.Errorf("%s, with its tests, is built from %s", pkg, d)
				break
			}
		}
	}
}

// A first build compiles every package that the program links: a dependency that brings more is weighed before it comes in.
// Our own packages do not count.
func TestProgramIsLight(t *testing.T) {
	const most = 425 // 27 of them for assistants: the Model Context Protocol's own SDK, which keeps up with the protocol
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "./cmd/straggler").Output()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for pkg := range strings.FieldsSeq(string(out)) {
		if !strings.HasPrefix(pkg, module+"/") {
			n++
		}
	}
	if n > most {
		t.Errorf("the program is built from %d packages of others and may be from %d", n, most)
	}
}

// dependencies returns the packages that a package and its tests are built from.
func dependencies(t *testing.T, pkg string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-test", pkg).Output()
	if err != nil {
		t.Fatalf("go list -deps %s: %v", pkg, err)
	}
	return strings.Fields(string(out))
}

// Every module that the program is built from, or tested with, has its line in the README.
func TestReadmeNamesDependencies(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "## Dependencies")
	if !ok {
		t.Fatal("README.md has no section Dependencies")
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	var modules []string
	for _, line := range strings.Split(string(mod), "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(fields[1], "v") {
			modules = append(modules, fields[0])
		}
	}
	for _, tests := range []bool{false, true} {
		for pkg, paths := range imports(t, tests) {
			for _, p := range paths {
				first, _, _ := strings.Cut(p, "/")
				if name := repository(modules, p); strings.Contains(first, ".") && !strings.HasPrefix(p, module+"/") && !strings.Contains(section, name) {
					t.Errorf("%s imports %s, and the README has no line for %s", pkg, p, name)
				}
			}
		}
	}
}

// repository returns how the README names the module of a package: owner/name on GitHub, else the module as go.mod has it.
func repository(modules []string, p string) string {
	best := p
	for _, m := range modules {
		if p == m || strings.HasPrefix(p, m+"/") {
			best = m
		}
	}
	if rest, ok := strings.CutPrefix(best, "github.com/"); ok {
		return strings.Join(strings.Split(rest, "/")[:2], "/")
	}
	return best
}

// TestPackageDocs: each doc.go names every file of its package, and none that is not there.
func TestPackageDocs(t *testing.T) {
	file := regexp.MustCompile(`[a-z0-9_.]+\.(go|sql|tmpl)\b`)
	docs, err := filepath.Glob("*/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	below, err := filepath.Glob("*/*/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	deep, err := filepath.Glob("*/*/*/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	if docs = slices.Concat(docs, below, deep); len(docs) < 30 {
		t.Fatalf("%d packages have a doc.go, which cannot be all", len(docs))
	}
	for _, doc := range docs {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range file.FindAllString(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(doc), name)); err != nil {
				t.Errorf("%s names %s, which is not there", doc, name)
			}
		}
		files, err := filepath.Glob(filepath.Join(filepath.Dir(doc), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if name := filepath.Base(f); name != "doc.go" && !strings.HasSuffix(name, "_test.go") && !slices.Contains(file.FindAllString(string(text), -1), name) {
				t.Errorf("%s does not say what %s is for", doc, name)
			}
		}
	}
}
