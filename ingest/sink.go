package ingest

import (
	"fmt"
	"math"
	"sync"

	"straggler/schema"
)

// Sink takes what a format reads from one input. It is safe for concurrent use; rows that are emitted by one goroutine
// keep their order.
type Sink struct {
	limits Limits
	write  func(schema.Batch) error

	mu      sync.Mutex
	counts  Counts
	kept    int64        // rejects that were written as rows
	dropped int64        // rejects that were counted only
	apps    []schema.Key // the first applications, which get the caveats that the sink itself adds
	ended   int64        // successful attempts
	untimed int64        // of them, those without a duration
	lastEnd schema.Time  // of any attempt
	appEnd  schema.Time  // the last one of any application
	open    bool         // some application has no known end
	err     error        // the first error of write; nothing is accepted after it
}

// Counts is what a sink received.
type Counts struct {
	Decoded int64            // records used, or knowingly skipped
	Rejects int64            // records that could not be used
	Rows    map[string]int64 // rows by table
}

// NewSink makes a sink that passes rows to write, which must not keep a batch after it returns.
func NewSink(limits Limits, write func(schema.Batch) error) *Sink {
	return &Sink{limits: limits.WithDefaults(), write: write, counts: Counts{Rows: map[string]int64{}}}
}

// Emit takes rows of any log table. The slice may be reused afterwards; the strings in it must not change. Emit blocks
// while the store is behind, so calls with a few thousand rows are best. A format returns an error of Emit to its caller.
func Emit[R any](out *Sink, rows []R) error {
	return out.emit(schema.BatchOf(rows))
}

// EmitTrace emits all rows of a trace except its rejects, which Reject takes.
func EmitTrace(out *Sink, t *schema.Trace) error {
	for b := range t.Batches() {
		if b.Table() == schema.TableOf[schema.Reject]() {
			continue
		}
		if err := out.emit(b); err != nil {
			return err
		}
	}
	return nil
}

func (s *Sink) emit(b schema.Batch) error {
	if b.Len() == 0 {
		return nil
	}
	s.mu.Lock()
	if apps, ok := schema.RowsOf[schema.Application](b); ok {
		s.remember(apps)
	}
	if attempts, ok := schema.RowsOf[schema.Attempt](b); ok {
		for i := range attempts {
			s.lastEnd = max(s.lastEnd, attempts[i].FinishTime.V)
			if attempts[i].Status == schema.Success {
				s.ended++
				if !attempts[i].DurationS.OK {
					s.untimed++
				}
			}
		}
	}
	s.counts.Rows[b.Table().Name] += int64(b.Len())
	s.mu.Unlock()
	return s.pass(b)
}

// pass writes a batch without holding the lock, because write may block for long.
func (s *Sink) pass(b schema.Batch) error {
	if err := s.Err(); err != nil {
		return err
	}
	err := s.write(b)
	if err != nil {
		s.mu.Lock()
		if s.err == nil {
			s.err = err
		}
		s.mu.Unlock()
	}
	return err
}

// Limits returns the limits of the run; no field is zero.
func (s *Sink) Limits() Limits { return s.limits }

// Decoded counts n records that were used or knowingly skipped.
func (s *Sink) Decoded(n int64) {
	s.mu.Lock()
	s.counts.Decoded += n
	s.mu.Unlock()
}

// Reject takes a record that could not be used; its sample is truncated and made printable. After Limits.Rejects of them
// records are only counted.
func (s *Sink) Reject(r schema.Reject) {
	s.mu.Lock()
	s.counts.Rejects++
	keep := s.kept < s.limits.Rejects
	if keep {
		s.kept++
		s.counts.Rows["rejects"]++
	} else {
		s.dropped++
	}
	s.mu.Unlock()
	if keep {
		r.Sample = Sample(r.Sample)
		s.pass(schema.BatchOf([]schema.Reject{r}))
	}
}

// Err is the error after which the sink takes no more rows, such as a full disk or a cancelled run; nil if there is none.
func (s *Sink) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Counts returns the numbers of rows and records so far.
func (s *Sink) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counts
	c.Rows = make(map[string]int64, len(s.counts.Rows))
	for table, n := range s.counts.Rows {
		c.Rows[table] = n
	}
	return c
}

// maxCaveatApps is the number of applications for which a caveat about a whole input is repeated.
const maxCaveatApps = 64

func (s *Sink) remember(apps []schema.Application) {
	for i := range apps {
		s.open = s.open || !apps[i].FinishTime.OK
		s.appEnd = max(s.appEnd, apps[i].FinishTime.V)
	}
	for i := 0; i < len(apps) && len(s.apps) < maxCaveatApps; i++ {
		s.apps = append(s.apps, apps[i].ApplicationID)
	}
}

// caveatAll records a caveat for the applications of the input.
func (s *Sink) caveatAll(c schema.Caveat) error {
	s.mu.Lock()
	rows := make([]schema.Caveat, len(s.apps))
	for i, app := range s.apps {
		rows[i] = c
		rows[i].ApplicationID = app
	}
	s.mu.Unlock()
	return Emit(s, rows)
}

// lateS is the number of seconds that an attempt may end after its application without a caveat. Estimate: clocks of a
// cluster differ by less than half an hour; time zones differ by more.
const lateS = 1800

// Finish ends the input: err is what Format.Read returned. It adds the caveats that a format cannot know.
func (s *Sink) Finish(err error) error {
	if e := s.Err(); e != nil {
		return e
	}
	if err != nil {
		c := schema.Caveat{Code: "read_error", Detail: "the input could not be read to its end: " + Sample(err.Error())}
		if IsCut(err) {
			c = schema.Caveat{Code: "log_cut", Detail: "the input ends before its end: " + Sample(err.Error())}
		}
		if e := s.caveatAll(c); e != nil {
			return e
		}
	}
	if s.untimed > 0 && 2*s.untimed >= s.ended {
		if e := s.caveatAll(schema.Caveat{Code: "no_durations", Count: schema.Some(s.untimed),
			Detail: fmt.Sprintf("of %d attempts that succeeded %d have no duration, as the log has no usable times of their start and end; they are not compared", s.ended, s.untimed)}); e != nil {
			return e
		}
	}
	if late := s.lastEnd.Sub(s.appEnd); len(s.apps) > 0 && !s.open && late > lateS {
		if e := s.caveatAll(schema.Caveat{Code: "ends_late",
			Detail: fmt.Sprintf("attempts end up to %.0f hours after their application: a clock was set, or times are wrong or in another unit; "+
				"durations derived from these times are wrong too", math.Ceil(late/3600))}); e != nil {
			return e
		}
	}
	if s.dropped > 0 {
		return s.caveatAll(schema.Caveat{Code: "rejects_not_kept", Count: schema.Some(s.dropped),
			Detail: fmt.Sprintf("only the first %d rejected records of the input are kept, the others are counted", s.kept)})
	}
	return nil
}
