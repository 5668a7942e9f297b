package spark

import (
	"errors"
	"fmt"
	"strings"

	"straggler/ingest"
	"straggler/schema"
)

// rowsAtOnce is how many rows go to the sink in one call.
const rowsAtOnce = 512

// fold converts the events of an input to rows, one by one in the order of the log.
type fold struct {
	in   *ingest.Input
	out  *ingest.Sink
	keys struct{ applications, jobs, phases, attempts, queries, nodes *schema.Keys }

	attempts uint32 // ordinal of the next attempt
	phases   uint32 // ordinal of the next phase

	rows      []schema.Attempt // the rows that wait to go to the sink
	ids       strings.Builder  // backs the native ids of rows
	jobRows   []schema.Job
	phaseRows []schema.Phase
	edgeRows  []schema.Edge
	lossRows  []schema.Loss
	plans     planRows

	app       *app   // the application that the log is about at this point; nil before the first event
	version   string // of Spark, where only a file name says it
	partStart bool   // the next event is the first of its file
	foreign   int64  // records that are events of something else than Spark
	notes     []note // what the names of the files say
	err       error  // of the sink
}

func newFold(in *ingest.Input, out *ingest.Sink) *fold {
	f := &fold{in: in, out: out}
	f.keys.applications = schema.NewKeys(in.Key, "applications")
	f.keys.jobs = schema.NewKeys(in.Key, "jobs")
	f.keys.phases = schema.NewKeys(in.Key, "phases")
	f.keys.attempts = schema.NewKeys(in.Key, "attempts")
	f.keys.queries = schema.NewKeys(in.Key, "queries")
	f.keys.nodes = schema.NewKeys(in.Key, "plan_nodes")
	return f
}

// batch processes the events of a block, and its rejects.
func (f *fold) batch(b *batch) error {
	f.out.Decoded(b.decoded)
	f.foreign += b.foreign
	for _, r := range b.rejects {
		f.out.Reject(r)
	}
	starts, ends, others := b.starts, b.ends, b.others
	for _, k := range b.kinds {
		switch k {
		case kindTaskStart:
			f.application().taskStart(&starts[0])
			starts = starts[1:]
		case kindTaskEnd:
			f.application().taskEnd(&ends[0])
			ends = ends[1:]
		default:
			f.other(k, others[0])
			others = others[1:]
		}
		f.partStart = false
		if f.err != nil {
			return f.err
		}
	}
	return f.err
}

func (f *fold) other(k kind, event any) {
	switch k {
	case kindLogStart:
		f.logStart(event.(*logStart).Version)
	case kindRollover:
		f.application().version = event.(*logStart).Version
	case kindApplicationStart:
		f.applicationStart(*event.(*applicationStart))
	case kindApplicationEnd:
		f.application().end(*event.(*applicationEnd))
	case kindEnvironment:
		f.application().environment(event.(*environmentUpdate).Properties)
	case kindJobStart:
		f.application().jobStart(event.(*jobStart))
	case kindJobEnd:
		f.application().jobEnd(event.(*jobEnd))
	case kindStageSubmitted:
		f.application().stageSubmitted(&event.(*stageEvent).Info)
	case kindStageCompleted:
		f.application().stageCompleted(&event.(*stageEvent).Info)
	case kindExecutorAdded:
		f.application().executorAdded(event.(*executorAdded))
	case kindExecutorRemoved:
		f.application().executorRemoved(event.(*executorRemoved))
	case kindBlockManagerAdded:
		f.application().blockManagerAdded(event.(*blockManager))
	case kindBlockManagerRemoved:
		f.application().blockManagerRemoved(event.(*blockManager))
	case kindResourceProfile:
		f.application().resourceProfile(event.(*resourceProfile))
	case kindExcluded:
		f.application().excluded++
	case kindBlacklisted:
		f.application().blacklisted++
	case kindQueryStart:
		f.application().queryStart(event.(*planEvent))
	case kindPlanUpdate:
		f.application().planUpdate(event.(*planEvent))
	case kindMetricUpdate:
		f.application().metricUpdate(event.(*planEvent))
	case kindDriverUpdates:
		f.application().driverUpdates(event.(*driverUpdates))
	case kindQueryEnd:
		f.application().queryEnd(event.(*queryEnd))
	}
}

// application returns the application that the log is about at this point.
func (f *fold) application() *app {
	if f.app == nil {
		f.app = newApp(f)
	}
	return f.app
}

// logStart begins another application where logs were concatenated. The files of a rolling log may each have one.
func (f *fold) logStart(version string) {
	continues := f.partStart && f.app != nil && !f.app.hasEnd
	if f.app != nil && (f.app.hasStart || f.app.hasEnd) && !continues {
		f.finishApp("")
	}
	f.application().version = version
}

// applicationStart begins another application unless it repeats the start of this one.
func (f *fold) applicationStart(s applicationStart) {
	if a := f.app; a != nil && a.hasStart {
		if a.start == s {
			return
		}
		f.finishApp("")
	}
	f.application().start, f.application().hasStart = s, true
}

// finishApp writes the rest of the application at its end. The reason tells why it may be incomplete.
func (f *fold) finishApp(truncated string) {
	if f.app != nil {
		if err := f.app.inOrder(); f.err == nil {
			f.err = err
		}
		f.app.finish(truncated)
		f.app = nil
	}
	f.flushAll()
}

// inOrder returns an error if the ends of many attempts precede their starts. Other programs sort logs, often with the newest
// record first, and then stages would be assigned to the wrong jobs. Spark loses starts and repeats events, but never reverses
// them.
func (a *app) inOrder() error {
	n := min(a.count.startsAfterEnd, a.count.endsWithoutStart)
	switch {
	case n < 3: // chance
	case 10*n > 9*a.count.attempts:
		return errors.New("its records stand in reverse order, the last one first; turn them round before, as tac does the lines of a plain file")
	case 4*n > a.count.attempts:
		return fmt.Errorf("its records are not in the order in which Spark wrote them: %d of %d attempts end before they start", n, a.count.attempts)
	}
	return nil
}

// flushAll passes all pending rows to the sink.
func (f *fold) flushAll() {
	flush(f, &f.rows)
	flush(f, &f.jobRows)
	flush(f, &f.phaseRows)
	flush(f, &f.edgeRows)
	flush(f, &f.lossRows)
	f.plans.flush(f)
}

// put adds a pending row.
func put[R any](f *fold, rows *[]R, row R) {
	if *rows = append(*rows, row); len(*rows) >= rowsAtOnce {
		flush(f, rows)
	}
}

// flush passes rows to the sink unless it has failed.
func flush[R any](f *fold, rows *[]R) {
	if f.err == nil {
		f.err = ingest.Emit(f.out, *rows)
	}
	*rows = (*rows)[:0]
}
