package render

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"straggler/audit"
	"straggler/audit/audittest"
	"straggler/audit/measure"
)

// TestPublishedSARIF checks the output against the complete OASIS schema of SARIF 2.1.0.
func TestPublishedSARIF(t *testing.T) {
	schema := publishedSchema(t)
	for name, n := range publishedNights() {
		out := rendered(t, func(w io.Writer) error { return SARIF(w, n) })
		if err := audittest.CheckJSON(schema, out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if audittest.CheckJSON(schema, strings.Replace(out, `"version": "2.1.0"`, `"version": "2.0.0"`, 1)) == nil {
			t.Error("the schema accepts an unknown version")
		}
	}
}

// publishedSchema returns the schema contained in go-sarif, a constant in its source.
func publishedSchema(t *testing.T) string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", reflect.TypeFor[sarif.Report]().PkgPath()).Output()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.BasicLit); ok && v.Kind == token.STRING {
			if text, err = strconv.Unquote(v.Value); err != nil {
				t.Fatal(err)
			}
		}
		return true
	})
	if !strings.Contains(text, "sarif-schema-2.1.0.json") {
		t.Fatalf("schema.go holds no schema: %.80q", text)
	}
	return text
}

// TestPublishedJUnit checks the output against the schema of the Jenkins xUnit plugin, which pytest uses for its own reports.
// STRAGGLER_JUNIT_XSD names the file: junit-10.xsd.
func TestPublishedJUnit(t *testing.T) {
	xsd := os.Getenv("STRAGGLER_JUNIT_XSD")
	xmllint, err := exec.LookPath("xmllint")
	if xsd == "" || err != nil {
		const how = "needs xmllint (Debian: libxml2-utils) and STRAGGLER_JUNIT_XSD=junit-10.xsd (in testing/example_scripts of pytest's source archive)"
		if slices.Contains(strings.Fields(os.Getenv("STRAGGLER_REQUIRE")), "junit") {
			t.Fatal(how)
		}
		t.Skip(how)
	}
	valid := func(text string) (string, bool) {
		file := filepath.Join(t.TempDir(), "junit.xml")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(xmllint, "--nonet", "--noout", "--schema", xsd, file).CombinedOutput()
		return string(out), err == nil
	}
	for name, n := range publishedNights() {
		out := rendered(t, func(w io.Writer) error { return JUnit(w, n, audit.DefaultConfig()) })
		if why, ok := valid(out); !ok {
			t.Errorf("%s: %s", name, why)
		}
		if _, ok := valid(strings.Replace(out, "errors=", "mistakes=", 1)); ok {
			t.Error("the schema accepts an unknown attribute")
		}
	}
}

// publishedNights returns a night with findings of every kind, one without findings, and one that is learning.
func publishedNights() map[string]*audit.Night {
	bad, cfg := badNight()
	var runs []measure.Run
	for n := range 7 {
		runs = append(runs, measure.Run{Group: "quiet", ID: string(rune('a' + n)), Start: "2026-01-02T00:00:00.000Z", Complete: true, JudgedMachines: 3,
			Values: measure.Values{"time_s": 100, "slot_s": 400, "attempts": 100, "failed": 0, "excess_s": 5, "excess_sq": 5}})
	}
	return map[string]*audit.Night{
		"bad":      bad,
		"quiet":    judged(runs[6:], runs[:6], cfg, audit.Options{Tool: "test"}),
		"learning": judged(runs[6:], runs[:1], cfg, audit.Options{Tool: "test"}),
		"no runs":  judged(nil, nil, cfg, audit.Options{Tool: "test"}),
	}
}

// TestJSONIsWhole reads the JSON and writes it again: nothing of a night is lost.
func TestJSONIsWhole(t *testing.T) {
	n, _ := badNight()
	text := rendered(t, func(w io.Writer) error { return JSON(w, n) })
	text = strings.ReplaceAll(text, `\ufffd`, "\ufffd") // broken UTF-8 is written as the first, what is read back as the second
	var back audit.Night
	if err := json.Unmarshal([]byte(text), &back); err != nil {
		t.Fatal(err)
	}
	if len(back.Findings()) != len(n.Findings()) || len(back.Findings()) == 0 {
		t.Fatalf("%d findings, want %d", len(back.Findings()), len(n.Findings()))
	}
	if again := rendered(t, func(w io.Writer) error { return JSON(w, &back) }); again != text {
		t.Errorf("reads back as\n%s\nwant\n%s", again, text)
	}
}
