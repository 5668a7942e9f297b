// Package screen writes the frames of package live for terminals, as lines of JSON, and as notices.
//
//  1. text.go redraws a terminal, and writes what is new to a pipe, line by line.
//  2. jsonl.go writes every frame as lines of JSON, each a record of a named kind.
//  3. notices.go makes messages for people when a problem begins and when it is over.
//
// Start with text.go.
package screen

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"straggler/live"
	"straggler/report/prose"
	"straggler/schema"
)

// Text writes frames as text.
type Text struct {
	W             io.Writer
	Terminal      bool // it is redrawn
	Color         bool
	Width, Height int
	shown         map[string]bool
	recent        []string // the last decisions
	lines         int
}

// recentDecisions is how many decisions stay on a terminal.
const recentDecisions = 6

// Show writes a frame.
func (t *Text) Show(f *live.Frame) error {
	if t.Terminal {
		return t.draw(f)
	}
	return t.news(f)
}

// news writes what has not been written yet, one line each.
func (t *Text) news(f *live.Frame) error {
	if t.shown == nil {
		t.shown = map[string]bool{}
	}
	var b bytes.Buffer
	once := func(key, line string) {
		if !t.shown[key] {
			t.shown[key] = true
			fmt.Fprintf(&b, "%s  %s\n", clock(f.Now), line)
		}
	}
	if f.Application != nil {
		once("app "+f.Application.NativeID, "watching "+title(f.Application))
	}
	for i := range f.Slow {
		s := &f.Slow[i]
		once(fmt.Sprint("slow ", s.Attempt, s.Cause, s.Copy.Helps), slowLine(s)+"; "+s.Copy.Advice)
	}
	for i := range f.Decisions {
		fmt.Fprintf(&b, "%s  %s\n", clock(f.Decisions[i].At), f.Decisions[i].Text)
	}
	for i := range f.Machines {
		once("machine "+f.Machines[i].Machine, f.Machines[i].Advice)
	}
	for _, n := range f.Notes {
		once("note "+n, "note: "+prose.Clean(n, 300))
	}
	if f.Ended {
		once("ended", "the application has ended"+errorWords(f))
	}
	_, err := t.W.Write(b.Bytes())
	return err
}

// draw draws a frame over the one before.
func (t *Text) draw(f *live.Frame) error {
	lines, head := t.compose(f)
	return t.paint(lines, func(n int) bool { return n == 0 || n == head })
}

// compose lays out a frame in lines. head is the index of the line above the slow tasks, -1 if there are none.
func (t *Text) compose(f *live.Frame) (lines []string, head int) {
	head = -1
	add := func(format string, a ...any) { lines = append(lines, fmt.Sprintf(format, a...)) }
	if f.Application != nil {
		add("%s  %s", title(f.Application), clock(f.Now))
	}
	for i := range f.Stages {
		s := &f.Stages[i]
		add("stage %s  %d of %s done, %d running, %d waiting, for %s; median %s  %s", prose.Name(s.Stage), s.Done,
			prose.Plural(s.Tasks, "task", "tasks"), s.Running, s.Waiting,
			prose.Seconds(s.ElapsedS), prose.OrDash(s.MedianS, prose.Seconds), prose.Clean(s.Name, 60))
	}
	if len(f.Stages) == 0 && !f.Ended {
		add("no stage runs")
	}
	if len(f.Slow) > 0 {
		add("")
		add("%d slow", len(f.Slow))
		head = len(lines) - 1
	}
	for i := range f.Slow[:min(len(f.Slow), max(t.Height-len(lines)-recentDecisions-8, 3)/2)] {
		s := &f.Slow[i]
		add("%s", slowLine(s))
		add("    %s", s.Copy.Advice)
	}
	for i := range f.Machines[:min(len(f.Machines), 5)] {
		add("%s", f.Machines[i].Advice)
	}
	for i := range f.Decisions {
		t.recent = append(t.recent, clock(f.Decisions[i].At)+"  "+f.Decisions[i].Text)
	}
	t.recent = t.recent[max(len(t.recent)-recentDecisions, 0):]
	if len(t.recent) > 0 {
		add("")
		lines = append(lines, t.recent...)
	}
	for _, n := range f.Notes {
		add("note: %s", prose.Clean(n, 300))
	}
	if w := errorWords(f); w != "" {
		add("%s", strings.TrimPrefix(w, "; "))
	}
	return lines, head
}

// paint writes lines over those painted before; some of them are bold if there are colours.
func (t *Text) paint(lines []string, bold func(line int) bool) error {
	var b bytes.Buffer
	if t.lines > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", t.lines)
	}
	rows := max(t.Height-1, 5)
	lines = lines[:min(len(lines), rows)]
	spare := rows - len(lines) // for lines that need more than one
	t.lines = 0
	for n, l := range lines {
		wrapped := wrap(l, t.Width, 1+spare)
		spare -= len(wrapped) - 1
		t.lines += len(wrapped)
		for _, row := range wrapped {
			if t.Color && bold(n) {
				row = "\x1b[1m" + row + "\x1b[0m"
			}
			b.WriteString(row + "\x1b[K\n")
		}
	}
	b.WriteString("\x1b[J")
	_, err := t.W.Write(b.Bytes())
	return err
}

// wrap divides a line into rows that fit on a terminal, indented after the first; what exceeds the allowed number of rows is
// cut off.
func wrap(line string, width, most int) []string {
	const indent = "      "
	var rows []string
	for left := []rune(line); ; {
		if width < 20 || len(left) < width {
			return append(rows, string(left))
		}
		if len(rows)+1 == most {
			return append(rows, string(left[:width-2])+"…")
		}
		at := width - 1
		for k := at; k > width/2; k-- {
			if left[k] == ' ' {
				at = k
				break
			}
		}
		rows = append(rows, string(left[:at]))
		left = append([]rune(indent), []rune(strings.TrimLeft(string(left[at:]), " "))...)
	}
}

func clock(t schema.Time) string { return prose.Instant(t, "epoch")[11:19] }

func title(a *schema.Application) string {
	name := prose.Clean(a.NativeID, 80)
	if a.Name.OK {
		name = prose.Clean(a.Name.V, 80) + " (" + name + ")"
	}
	return name
}

// slowLine describes a slow task.
func slowLine(s *live.SlowTask) string {
	line := fmt.Sprintf("task %d of stage %s on %s: %s where the median is %s; %s by %s", s.Task, prose.Name(s.Stage), prose.Name(s.Machine),
		prose.Seconds(s.ElapsedS), prose.Seconds(s.MedianS), s.Left(), s.Basis)
	line += "; likely " + string(s.Cause)
	if s.Confidence.OK {
		line += " (" + prose.Percent(s.Confidence.V) + " sure)"
	}
	if s.Evidence != "" {
		line += ": " + prose.Clean(s.Evidence, 200)
	}
	return line
}

// errorWords describes the errors of estimates.
func errorWords(f *live.Frame) string {
	var b strings.Builder
	for _, e := range f.Errors {
		fmt.Fprintf(&b, "; estimates by %s were off by %s (median of %s)", e.Basis, prose.Percent(e.Median), prose.Plural(int64(e.Tasks), "task", "tasks"))
	}
	return b.String()
}
