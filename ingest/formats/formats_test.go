package formats

import (
	"strings"
	"testing"

	"straggler/ingest"
)

// Every format has documentation and a unique name.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range All() {
		if f.Name == "" || f.Doc == "" || f.Detail == "" || f.Sniff == nil || f.Read == nil {
			t.Errorf("format %q is not complete", f.Name)
		}
		if strings.ToLower(f.Name) != f.Name || seen[f.Name] {
			t.Errorf("name %q is taken or not in lower case", f.Name)
		}
		seen[f.Name] = true
	}
}

// No format recognises empty input.
func TestNothingIsNobodys(t *testing.T) {
	for _, b := range []string{"", "\n", "{", "[]", "hello world\n", "\x00\x01\x02", `{"a":1}`, "a,b,c\n1,2,3\n", "<html></html>"} {
		for _, f := range All() {
			if m := f.Sniff(ingest.Head{Name: "x", Bytes: []byte(b), Whole: true}); m.Confidence > 0 {
				t.Errorf("%s takes %q: %s", f.Name, b, m.Why)
			}
		}
	}
}
