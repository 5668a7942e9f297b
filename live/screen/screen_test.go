package screen

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"straggler/live"
	"straggler/notify"
	"straggler/schema"
	"straggler/whatif/replay"
)

// hostile returns a frame of an application with names that a terminal or a reader of JSON could misinterpret.
func hostile() *live.Frame {
	name := "a\x1b[2Jb\nc\"<\u202e"
	return &live.Frame{Now: 1_700_000_000_000_000, Application: &schema.Application{NativeID: name, Name: schema.Some(name)},
		Stages: []live.Stage{{Phase: 7, Stage: "3", Name: name, Tasks: 10, Done: 4, Running: 6}},
		Slow: []live.SlowTask{{Attempt: 1, Stage: "3", Task: 311, Machine: name, ElapsedS: 10, MedianS: 2, Cause: schema.Transient, Evidence: name,
			Copy: live.Copy{Helps: live.Yes, Advice: "a copy elsewhere would help"}}},
		Decisions: []live.Decision{{Policy: "late", Verb: replay.CopyTask, Task: 311, Tasks: 1, Text: "late would copy task 311 of stage 3 now"}},
		Machines:  []live.Machine{{Machine: name, Factor: 2, Advice: "host m is 2.0× slow in 4 stages"}},
		Errors:    []live.Error{{Basis: live.ByBytes, Tasks: 5, Median: 0.2}}, Notes: []string{name}}
}

// Text from logs never reaches a terminal as a command, on a terminal or in a pipe.
func TestHostileNames(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		var b bytes.Buffer
		x := &Text{W: &b, Terminal: terminal, Width: 200, Height: 40}
		for range 2 {
			if err := x.Show(hostile()); err != nil {
				t.Fatal(err)
			}
		}
		out := b.String()
		for _, ours := range []string{"\x1b[K", "\x1b[J", "\x1b[0m", "\x1b[13A", "\x1b[12A", "\x1b[11A", "\x1b[10A", "\x1b[9A", "\x1b[8A"} {
			out = strings.ReplaceAll(out, ours, "")
		}
		if strings.ContainsAny(out, "\x1b\u202e") || !strings.Contains(out, "task 311 of stage 3") || !strings.Contains(out, "late would copy") {
			t.Errorf("terminal %v: %q", terminal, out)
		}
	}
}

// A view never has more lines than the terminal, since it could not be redrawn otherwise.
func TestViewFits(t *testing.T) {
	f := hostile()
	for range 6 {
		f.Slow = append(f.Slow, f.Slow...)
		f.Stages = append(f.Stages, f.Stages...)
	}
	for _, height := range []int{6, 10, 24, 60} {
		var b bytes.Buffer
		x := &Text{W: &b, Terminal: true, Width: 80, Height: height}
		for range 3 {
			b.Reset()
			if err := x.Show(f); err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(b.String(), "\n"); n >= height {
				t.Errorf("%d lines on a terminal of %d", n, height)
			}
		}
	}
}

// On a narrow terminal lines are wrapped while there are rows left, none is wider than the terminal, colours end where they
// begin, and nothing of a line is lost if it fits.
func TestNarrowTerminals(t *testing.T) {
	f := hostile()
	f.Slow[0].Evidence = strings.Repeat("word ", 30) + "end"
	for _, width := range []int{40, 80, 200} {
		for _, height := range []int{12, 60} {
			var b bytes.Buffer
			if err := (&Text{W: &b, Terminal: true, Color: true, Width: width, Height: height}).Show(f); err != nil {
				t.Fatal(err)
			}
			rows := strings.Split(b.String(), "\n")
			for _, row := range rows[:len(rows)-1] {
				if strings.Count(row, "\x1b[1m") != strings.Count(row, "\x1b[0m") {
					t.Errorf("a colour does not end where it begins: %q", row)
				}
				for _, escape := range []string{"\x1b[1m", "\x1b[0m", "\x1b[K"} {
					row = strings.ReplaceAll(row, escape, "")
				}
				if n := len([]rune(row)); n > width || strings.Contains(row, "\x1b") {
					t.Errorf("%d columns on a terminal of %d: %q", n, width, row)
				}
			}
			if all := strings.Join(strings.Fields(b.String()), " "); height == 60 && !strings.Contains(strings.ReplaceAll(all, "\x1b[K", ""), "word end") {
				t.Errorf("width %d: the end of a line is lost: %s", width, all)
			}
		}
	}
}

// In a pipe known facts are written once, and again only when they change.
func TestNews(t *testing.T) {
	var b bytes.Buffer
	x := &Text{W: &b}
	f := hostile()
	x.Show(f)
	first := b.Len()
	f.Decisions = nil // a watcher returns each once
	x.Show(f)
	if b.Len() != first {
		t.Errorf("said again: %q", b.String()[first:])
	}
	f.Slow[0].Copy.Helps = live.No
	if x.Show(f); strings.Count(b.String()[first:], "task 311") != 1 {
		t.Errorf("the advice has changed: %q", b.String()[first:])
	}
}

// Every line is an object with a record, unknown is null, and a note is written once.
func TestJSONLines(t *testing.T) {
	var b bytes.Buffer
	x := &JSON{W: &b}
	x.Show(hostile())
	x.Show(hostile())
	records := map[string]int{}
	for line := range strings.Lines(b.String()) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		record := o["record"].(string)
		records[record]++
		if record == "slow_task" && (o["size_ratio"] != nil || o["task"].(float64) != 311 || o["copy"].(map[string]any)["helps"] != "yes") {
			t.Errorf("%s", line)
		}
	}
	for record, n := range map[string]int{"application": 2, "stage": 2, "slow_task": 2, "decision": 2, "machine": 2, "estimate": 2, "note": 1} {
		if records[record] != n {
			t.Errorf("%d lines of %s, want %d", records[record], record, n)
		}
	}
}

// A finding about a stage with slow tasks is open until the stage is over, not only while one of its tasks is slow.
func TestNotices(t *testing.T) {
	n, sent := &Notices{}, &notify.Sent{}
	say := func(f *live.Frame) (out []string) {
		news := sent.Unsent(n.Changes(f))
		sent.Delivered(news)
		for _, c := range news {
			out = append(out, string(c.State)+" "+strings.Fields(c.ID)[0])
		}
		return out
	}
	f := hostile()
	if got := strings.Join(say(f), ", "); got != "open machine, open stage" {
		t.Errorf("first: %s", got)
	}
	f.Slow = nil
	if got := say(f); len(got) > 0 {
		t.Errorf("no slow task at the moment: %v", got)
	}
	f.Stages = nil
	if got := strings.Join(say(f), ", "); got != "fixed stage" {
		t.Errorf("the stage is over: %s", got)
	}
	if got := say(f); len(got) > 0 {
		t.Errorf("and later: %v", got)
	}
}
