package google

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/ingest/read/extsort"
	"straggler/schema"
)

// kind is the kind of an event, numbered alike for both years.
type kind int64

const (
	other kind = iota
	submit
	schedule
	evict
	fail
	finish
	kill
	lost
)

// ends reports whether the event ends an attempt, and how.
func (k kind) ends() (schema.AttemptStatus, string, bool) {
	switch k {
	case evict:
		return schema.Killed, "evicted", true
	case fail:
		return schema.Failed, "failed", true
	case finish:
		return schema.Success, "", true
	case kill:
		return schema.Killed, "killed", true
	case lost:
		return schema.Lost, "lost", true
	}
	return "", "", false
}

// event is an event of a job (index -1) or of a task.
type event struct {
	job, index, time int64
	kind             kind
	machine          int64 // -1 unknown
	user, name       string
	after            []int64 // collections that it waits for
}

// reader sorts the events of all shards.
type reader struct {
	in        *ingest.Input
	out       *ingest.Sink
	events    *extsort.Sorter
	usage     *extsort.Sorter
	machines  map[int64]*machine
	locations map[int64]location
	err       error

	attempts *schema.Keys
	first    schema.Key // of an application, for caveats about the trace
	orphans  int64      // ends without a start
	repeated int64      // events that were there before
	doubled  int64      // starts within an attempt
	waiting  int64      // jobs that wait for other jobs
	trace    *schema.Trace
	emitter  *emitter // of finish
	names    []byte   // native ids of the trace's attempts, concatenated
	ends     []int    // where each ends
}

const (
	sortBytes = 48 << 20
	usageSort = 32 << 20
	flushRows = 512
)

func newReader(in *ingest.Input, out *ingest.Sink) *reader {
	return &reader{
		in: in, out: out, events: extsort.New("", sortBytes), usage: extsort.New("", usageSort),
		machines: map[int64]*machine{}, locations: map[int64]location{},
		attempts: schema.NewKeys(in.Key, "attempts"), trace: new(schema.Trace),
	}
}

func (r *reader) close() {
	r.events.Close()
	r.usage.Close()
}

// fold processes a decoded block.
func (r *reader) fold(b *block) error {
	for i := range b.machines {
		r.machineEvent(&b.machines[i])
	}
	r.out.Decoded(b.decoded)
	for _, reject := range b.rejects {
		r.out.Reject(reject)
	}
	r.err = cmp.Or(r.err, b.events.addTo(r.events), b.usage.addTo(r.usage), r.out.Err())
	return r.err
}

// flush sends on the rows made from events.
func (r *reader) flush() error {
	if r.err != nil {
		return r.err
	}
	all, start := string(r.names), 0 // one allocation for all of them
	for i, end := range r.ends {
		r.trace.Attempts[i].NativeID, start = all[start:end], end
	}
	r.trace, r.err = r.emitter.emit(r.trace)
	r.names, r.ends = r.names[:0], r.ends[:0]
	return r.err
}

func appendText(b []byte, s string) []byte {
	s = read.Text(s)
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// finish makes rows from the sorted events, job by job, then those of machines and their use.
func (r *reader) finish(ctx context.Context) (err error) {
	r.emitter = newEmitter(r.out)
	defer func() { err = cmp.Or(err, r.emitter.end()) }()
	var j *job
	n := 0
	var key extsort.Key
	var payload []byte
	for rec, err := range r.events.Merge() {
		if err != nil {
			return err
		}
		if n++; n%8192 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if n > 1 && rec.Key == key && bytes.Equal(rec.Payload, payload) {
			r.repeated++
			continue
		}
		key, payload = rec.Key, append(payload[:0], rec.Payload...)
		if j == nil || rec.Key[0] != j.id {
			if err := j.end(); err != nil {
				return err
			}
			j = r.begin(rec.Key[0])
		}
		j.take(parseEvent(rec))
	}
	if err := j.end(); err != nil {
		return err
	}
	r.machineRows()
	r.caveats()
	if err := r.flush(); err != nil {
		return err
	}
	return r.usageRows(ctx)
}

// parseEvent parses what decoder.event wrote.
func parseEvent(rec extsort.Record) event {
	e := event{job: rec.Key[0], index: rec.Key[1], time: rec.Key[2], kind: kind(rec.Key[3])}
	var n int
	e.machine, n = binary.Varint(rec.Payload)
	b := rec.Payload[n:]
	if len(b) == 0 {
		return e
	}
	for _, s := range []*string{&e.user, &e.name} {
		size, n := binary.Uvarint(b)
		*s, b = string(b[n:n+int(size)]), b[n+int(size):]
	}
	for len(b) > 0 {
		id, n := binary.Varint(b)
		e.after, b = append(e.after, id), b[n:]
	}
	return e
}

func (r *reader) caveats() {
	say := func(code string, n int64, detail string) {
		if r.first != 0 && n != 0 {
			c := schema.Caveat{ApplicationID: r.first, Code: code, Detail: detail + " (said of the first application for the whole trace)"}
			if n > 0 {
				c.Count = schema.Some(n)
			}
			r.trace.Caveats = append(r.trace.Caveats, c)
		}
	}
	say("ends_without_start", r.orphans, "tasks finish without having been scheduled in the files at hand; their starts are unknown")
	say("event_twice", r.repeated, "events are in the files again, equal in all that is read, and count once")
	say("starts_within_attempt", r.doubled, "tasks are scheduled while they run; the earlier attempt's end is unknown")
	say("waits_between_jobs", r.waiting, "jobs wait for other jobs, which their setting "+waitsFor+" names: edges join the phases of one job")
	say("no_bytes", -1, "the trace has no bytes and no records: slowness is judged by duration alone")
}
