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

// Tables with the columns of the schema are canonical, however many numbers a row has.
func TestCanonicalNumbers(t *testing.T) {
	columns := strings.Split("task,attempt_id,start_time,machine,number,finish_time,phase_id,job_id,executor,duration_s,cpu_s,cores,input_bytes,output_bytes", ",")
	for n := 5; n <= len(columns); n++ {
		text := strings.Join(columns[:n], ",") + "\n1" + strings.Repeat(",1", n-1) + "\n"
		for _, f := range All() {
			if m := f.Sniff(ingest.Head{Name: "x.csv", Bytes: []byte(text)}); m.Confidence >= 2 != (f.Name == "canonical") {
				t.Errorf("%s: %d columns: %+v", f.Name, n, m)
			}
		}
	}
}
