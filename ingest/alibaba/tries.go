package alibaba

import (
	"bytes"
	"encoding/binary"

	"straggler/ingest/read"
	"straggler/ingest/read/extsort"
	"straggler/schema"
)

// The trace of 2018 does not document seq_no and total_seq_no. Rows that share an instance's name are taken as its tries, in
// the order of seq_no, and no others: a name that occurs once was tried once, whatever its seq_no. The rows of a name may be in
// different shards, so the few rows with numbers above 1 are kept in the sorter until all are read.

func isRetry(b []byte) bool {
	n, ok := number(b)
	return ok && n > 1
}

// retry reads a row like instance, but leaves its attempt to finish.
func (d *decoder) retry(f [][]byte) bool {
	b := d.out
	rows, names, ends := len(b.rows.Attempts), len(d.names), len(b.ends)
	i := of2018(f)
	fits := d.instance(i)
	if len(b.rows.Attempts) == rows {
		return fits
	}
	b.rows.Attempts, d.names, b.ends = b.rows.Attempts[:rows], d.names[:names], b.ends[:ends]
	key := extsort.Key{d.jobKey(i.job), d.phaseKey(i.job, i.task), kindTry, schema.HashKey(0, "instance", i.name)}
	seq, _ := number(f[8])
	payload := binary.BigEndian.AppendUint64(nil, uint64(max(seq, 0)))
	b.plans = append(b.plans, plannedRow{key, append(payload, bytes.Join(f, []byte(","))...)})
	return fits
}

// tries numbers the rows of an instance, which are adjacent in the order of their seq_no.
type tries struct {
	d      decoder
	out    block
	of     extsort.Key
	number int32
}

func newTries(input, app schema.Key) *tries {
	t := &tries{d: decoder{input: input, app: app}}
	t.d.out = &t.out
	return t
}

// try adds the row of an attempt that retry put into the sorter.
func (j *jobRows) try(rec extsort.Record) error {
	t := j.tries
	if t.number++; rec.Key != t.of {
		t.of, t.number = rec.Key, 0
	}
	t.out.reset()
	t.d.names = t.d.names[:0]
	t.d.fields = split(rec.Payload[8:], t.d.fields[:0])
	t.d.instance(of2018(t.d.fields))
	row := t.out.rows.Attempts[0]
	row.AttemptID, row.Number, row.NativeID = j.attempts.Next(), t.number, read.Text(string(t.d.names))
	j.trace.Attempts = append(j.trace.Attempts, row)
	return j.flush(false)
}
