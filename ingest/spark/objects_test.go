package spark

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"straggler/ingest"
	"straggler/ingest/ingesttest"
	"straggler/schema"
)

// layouts are forms that programs give to a log: unchanged events with different separators.
var layouts = map[string]func(events [][]byte) []byte{
	"indented": func(events [][]byte) []byte { return bytes.Join(each(events, indented), []byte("\n")) },
	"a list":   func(events [][]byte) []byte { return []byte("[" + string(bytes.Join(events, []byte(", "))) + "]\n") },
	"a list of lines": func(events [][]byte) []byte {
		return []byte("[\n" + string(bytes.Join(events, []byte(",\n"))) + "\n]")
	},
	"an indented list": func(events [][]byte) []byte {
		return append(append([]byte("\ufeff[\r\n  "), bytes.Join(each(events, indented), []byte(",\r\n  "))...), "\r\n]\r\n"...)
	},
	"commas before lines": func(events [][]byte) []byte { return bytes.Join(events, []byte("\n,")) },
	"one line":            func(events [][]byte) []byte { return bytes.Join(events, nil) },
	"carriage returns":    func(events [][]byte) []byte { return append(bytes.Join(events, []byte("\r")), '\r') },
	"moved in":            func(events [][]byte) []byte { return []byte("\t" + string(bytes.Join(events, []byte("\n \t")))) },
	"marks of order":      func(events [][]byte) []byte { return []byte("\ufeff" + string(bytes.Join(events, []byte("\n\ufeff")))) },
}

func each(events [][]byte, f func([]byte) []byte) [][]byte {
	out := make([][]byte, len(events))
	for i, e := range events {
		out[i] = f(e)
	}
	return out
}

func indented(event []byte) []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, event, "  ", "  "); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// A log gives the same rows however its events are laid out, and no layout is taken for another format.
func TestLayouts(t *testing.T) {
	for name, log := range lawLogs(t) {
		want := under(t, 7, log)
		events := bytes.Split(bytes.TrimSpace(log), []byte("\n"))
		for layout, write := range layouts {
			text := write(events)
			got := under(t, 7, text)
			if got.Decoded != want.Decoded || len(got.Trace.Rejects) != 0 || !reflect.DeepEqual(got.Trace, want.Trace) {
				t.Errorf("%s as %s: %d of %d decoded, %d attempts of %d, %d rejects", name, layout, got.Decoded, want.Decoded,
					len(got.Attempts), len(want.Attempts), len(got.Trace.Rejects))
			}
			if m := sniff(ingest.Head{Name: "log", Bytes: text[:min(len(text), ingest.HeadBytes)]}); m.Confidence != ingest.Certain {
				t.Errorf("%s: %+v", layout, m)
			}
		}
	}
}

// A damaged event affects only itself in any layout; it is named with its line and byte.
func TestDamageInLayouts(t *testing.T) {
	end := func(id int) string {
		return endOf(fmt.Sprintf(`"Task ID":%d,"Index":%d,"Attempt":0,"Launch Time":1000,"Finish Time":2000,"Executor ID":"1","Host":"h"`, id, id))
	}
	whole := []string{appStart, end(1), end(2), end(3), appEnd}
	for layout, between := range map[string]string{"one line": "", "a list": ",", "a list of lines": ",\n", "indented": "\n"} {
		for name, damage := range map[string]func(string) string{
			"cut short":        func(s string) string { return s[:len(s)/2] },
			"a brace less":     func(s string) string { return strings.TrimRight(s, "}\n ") },
			"a quote less":     func(s string) string { return strings.Replace(s, `"Host"`, `"Host`, 1) },
			"a brace too many": func(s string) string { return s + "}" },
			"no JSON":          func(string) string { return "java.io.IOException: disk full\n" },
		} {
			events := make([]string, len(whole))
			for i, e := range whole {
				if events[i] = e; layout == "indented" {
					events[i] = string(indented([]byte(e)))
				}
			}
			events[2] = damage(events[2])
			text := strings.Join(events, between)
			if strings.HasPrefix(layout, "a list") {
				text = "[" + text + "]"
			}
			r := ingesttest.Bytes(t, Format(), "log", []byte(text))
			if len(r.Attempts) < 2 || len(r.Applications) != 1 || !r.Applications[0].Complete || len(r.Trace.Rejects) == 0 {
				t.Errorf("%s, %s: %d attempts, %+v, rejects %+v", layout, name, len(r.Attempts), r.Applications, r.Trace.Rejects)
				continue
			}
			first := r.Trace.Rejects[0]
			if line := strings.Count(text[:first.ByteOffset], "\n") + 1; first.Line != schema.Some(int64(line)) ||
				!strings.HasPrefix(text[first.ByteOffset:], first.Sample[:1]) {
				t.Errorf("%s, %s: %+v, want line %d", layout, name, first, line)
			}
			valid(t, &r.Trace)
		}
	}
}
