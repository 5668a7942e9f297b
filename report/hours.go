package report

import (
	"cmp"
	"slices"

	"straggler/schema"
	"straggler/sharing"
)

// SlowHour is a program whose runs are slow at some hours of the day.
type SlowHour struct {
	Program string `col:"program" doc:"the name of its runs without what differs in each, such as a date"`
	sharing.Hours
}

// mostSlowHours is how many programs a document lists.
const mostSlowHours = 20

// slowHours lists the programs whose runs are slow at some hours, the most certain first.
func (b *builder) slowHours() error {
	l := &b.doc.SlowHours
	l.SQL = "SELECT name, hour(start_time) AS started, count(*) AS runs, avg(unix_micros(finish_time) - unix_micros(start_time)) / 1e6 AS mean_s FROM applications WHERE complete GROUP BY name, hour(start_time) ORDER BY name NULLS LAST, started NULLS LAST"
	l.Note = "No program’s runs take longer at some hours of the day than at others, as far as the store tells."
	var runs []sharing.Run
	last := ""
	weigh := func() {
		if x, ok := sharing.SlowHours(runs); ok {
			l.Rows = append(l.Rows, SlowHour{last, x})
		}
		runs = runs[:0]
	}
	err := readStore(b, "run_hours", func(r *struct {
		Program       string               `col:"program"`
		ApplicationID schema.Key           `col:"application_id"`
		StartTime     schema.Time          `col:"start_time"`
		TookS         float64              `col:"took_s"`
		Bytes         schema.Null[float64] `col:"input_bytes"`
	}) error {
		if r.Program != last {
			weigh()
			last = r.Program
		}
		runs = append(runs, sharing.Run{Start: r.StartTime, TookS: r.TookS, Bytes: r.Bytes})
		return nil
	})
	weigh()
	slices.SortStableFunc(l.Rows, func(a, b SlowHour) int { return cmp.Compare(b.Support, a.Support) })
	l.Total = int64(len(l.Rows))
	l.Rows = l.Rows[:min(len(l.Rows), mostSlowHours)]
	return err
}
