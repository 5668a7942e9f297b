package report

import (
	"straggler/engine"
	"straggler/schema"
	"straggler/selection"
)

func (b *builder) trust() error {
	t := &b.doc.Trust
	if err := b.counts(); err != nil {
		return err
	}
	ingests, err := collect[Ingest](b, "ingests")
	if err != nil {
		return err
	}
	t.Ingests = List[Ingest]{Total: int64(len(ingests)), Rows: ingests[max(0, len(ingests)-10):], SQL: "SELECT * FROM ingests ORDER BY ingest_id NULLS LAST"}
	if b.o.Apps.All() && b.o.Scope == (Scope{}) {
		var bytes int64
		for _, i := range ingests {
			bytes += i.Bytes
		}
		t.LogBytes = schema.Null[int64]{V: bytes, OK: bytes > 0}
	}
	if err := b.applications(); err != nil {
		return err
	}
	t.Caveats.SQL = "SELECT * FROM caveats ORDER BY count DESC NULLS LAST"
	err = read(b, "caveats", func(c *struct {
		Code         string             `col:"code"`
		Applications int64              `col:"applications"`
		Count        schema.Null[int64] `col:"count"`
		Detail       string             `col:"detail"`
		Total        int64              `col:"total"`
	}) error {
		t.Caveats.Total = c.Total
		t.Caveats.Rows = append(t.Caveats.Rows, Caveat{c.Code, c.Applications, c.Count, c.Detail})
		return nil
	})
	if err != nil {
		return err
	}
	t.Rejects = List[schema.Reject]{Total: t.Counts.Rejects, SQL: "SELECT * FROM rejects ORDER BY source_file NULLS LAST, byte_offset NULLS LAST"}
	t.Rejects.Rows, err = collect[schema.Reject](b, "rejects")
	return err
}

func (b *builder) counts() error {
	sql, err := sqlOf("own_rejects")
	if err != nil {
		return err
	}
	if err := engine.MaterializeParts(b.ctx, b.eng, "report_rejects", sql, selection.Rejects()); err != nil {
		return err
	}
	return read(b, "counts", func(c *Counts) error { b.doc.Trust.Counts = *c; return nil })
}

// applications lists those that lost most.
func (b *builder) applications() error {
	l := &b.doc.Trust.Applications
	l.Total, l.SQL = int64(len(b.sums.apps)), "SELECT * FROM applications ORDER BY start_time NULLS LAST"
	l.Note = "No application was read."
	keys := b.sums.worst(b.sums.apps, b.apps)
	if err := b.pick("report_picked_apps", "application_id", keys); err != nil {
		return err
	}
	var rows []ApplicationRow
	if err := readStore(b, "applications", func(r *ApplicationRow) error { rows = append(rows, *r); return nil }); err != nil {
		return err
	}
	byKey := indexBy(rows, func(r *ApplicationRow) schema.Key { return r.ApplicationID })
	for _, k := range keys {
		if i, ok := byKey[k]; ok {
			l.Rows = append(l.Rows, Application{ApplicationRow: rows[i], Loss: b.sums.apps[k].loss()})
		}
	}
	return nil
}
