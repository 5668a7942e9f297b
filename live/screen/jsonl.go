package screen

import (
	"bytes"
	"io"

	"straggler/live"
	"straggler/report/json"
	"straggler/schema"
)

// JSON writes frames as lines of JSON. Every line has a record, which says what it is, and the time; application, stage,
// slow_task, machine and estimate are written anew with every frame, decision and note once. Unknown is null.
type JSON struct {
	W     io.Writer
	shown map[string]bool
}

// head begins every line.
type head struct {
	Record string      `col:"record"`
	Time   schema.Time `col:"time"`
}

type application struct {
	NativeID string              `col:"native_id"`
	Name     schema.Null[string] `col:"name"`
	Ended    bool                `col:"ended"`
}

type note struct {
	Note string `col:"note"`
}

// Show writes a frame.
func (j *JSON) Show(f *live.Frame) error {
	var b bytes.Buffer
	line := func(record string, row any) { json.Line(&b, &head{record, f.Now}, row) } // a buffer takes everything
	if a := f.Application; a != nil {
		line("application", &application{a.NativeID, a.Name, f.Ended})
	}
	each(f.Stages, func(r *live.Stage) { line("stage", r) })
	each(f.Slow, func(r *live.SlowTask) { line("slow_task", r) })
	each(f.Decisions, func(r *live.Decision) { line("decision", r) })
	each(f.Machines, func(r *live.Machine) { line("machine", r) })
	each(f.Errors, func(r *live.Error) { line("estimate", r) })
	if j.shown == nil {
		j.shown = map[string]bool{}
	}
	for _, n := range f.Notes {
		if !j.shown[n] {
			j.shown[n] = true
			line("note", &note{n})
		}
	}
	_, err := j.W.Write(b.Bytes())
	return err
}

func each[R any](rows []R, do func(*R)) {
	for i := range rows {
		do(&rows[i])
	}
}
