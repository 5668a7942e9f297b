package spark

import (
	"cmp"
	"slices"

	"straggler/ingest/read"
	"straggler/schema"
)

// Lost outputs. Spark reports them in three ways: by a second TaskEnd of a finished task with the reason Resubmitted, by a
// TaskEnd of a reader with the reason FetchFailed, and by recomputing a partition, which it does only if the output is lost.
// The last is the most reliable: the outputs on an executor are lost when it ends, but only those still needed matter. MANTRI
// §4.1 calls the attempts that recompute them recompute.

// loss is a lost output that has not been recomputed yet.
type loss struct {
	row  schema.Loss
	exec *executor
	seq  int
}

// lossID identifies an output.
type lossID struct {
	of        *outputs
	partition int64
}

// fetchLoss is an output named by a FetchFailed, by shuffle, which cannot be looked up in the log.
type fetchLoss struct {
	reader    *stage
	shuffle   int64
	partition int64
	taskID    int64 // of the attempt that made the output, none before Spark 3
	exec      *executor
	attempt   uint32 // ordinal of the attempt that failed
	time      int64
}

// maxPending bounds the losses waiting for recomputation, maxUnresolved those waiting for their stage to be known.
const (
	maxPending    = 200_000
	maxUnresolved = 10_000
)

// isRecompute reports whether an attempt of p for this partition recomputes a lost output: it was computed before, and either
// that output is known to be lost, or p was submitted after the success.
func (a *app) isRecompute(p *phase, partition int64) bool {
	s := p.stage
	switch {
	case s.kind == taskResult:
		return false
	case p.whole:
		p.recompute = true
		return true
	}
	out := s.outputs.find(partition)
	if out == nil {
		return false
	}
	later := out.phaseOrdinal() != int64(p.ordinal) && out.attempt <= p.before
	if !out.isLost() && !later {
		return false
	}
	if later {
		p.recompute = true
	}
	a.lose(s, partition, out, 0, schema.Null[schema.Key]{})
	return true
}

// lose records that an output is lost. The default for the time is the end of its executor.
func (a *app) lose(s *stage, partition int64, out *output, ms int64, by schema.Null[schema.Key]) {
	id := lossID{s.outputs, partition}
	before := out.isLost()
	out.phase |= outputLost
	if l := a.losses[id]; l != nil {
		if !l.row.DetectedBy.OK && by.OK {
			l.row.DetectedBy, l.row.Time = by, read.Millis(ms)
		}
		return
	}
	if before {
		return // and written, because there were too many
	}
	exec := a.executorList[out.executor]
	l := &loss{seq: a.lossSeq, exec: exec, row: schema.Loss{
		PhaseID:    a.keys.phases.Nth(out.phaseOrdinal()),
		Task:       partition,
		AttemptID:  schema.Some(a.keys.attempts.Nth(int64(out.attempt) - 1)),
		Machine:    known(exec.host),
		Time:       read.Millis(ms),
		DetectedBy: by,
	}}
	a.lossSeq++
	if len(a.losses) >= maxPending {
		a.writeLoss(l, 0)
		return
	}
	a.losses[id] = l
}

// writeLoss writes a loss that was restored at a time; 0 if it was not.
func (a *app) writeLoss(l *loss, again int64) {
	if !l.row.Time.OK {
		l.row.Time = read.Millis(l.exec.lostAt)
	}
	if again > 0 && l.row.Time.V > schema.FromMillis(again) {
		l.row.Time = schema.Null[schema.Time]{} // the clock was set back
	}
	put(a.fold, &a.lossRows, l.row)
}

// writeLosses writes the losses that were not restored, in the order in which they were noticed.
func (a *app) writeLosses() {
	rest := make([]*loss, 0, len(a.losses))
	for _, l := range a.losses {
		rest = append(rest, l)
	}
	slices.SortFunc(rest, func(x, y *loss) int { return cmp.Compare(x.seq, y.seq) })
	for _, l := range rest {
		a.writeLoss(l, 0)
	}
	clear(a.losses)
}

// succeeded records the output of an attempt, which restores a loss.
func (a *app) succeeded(r *run, e *taskEnd, ordinal uint32, finish int64) {
	if r.partition < 0 {
		return
	}
	s := r.phase.stage
	if s.outputs == nil {
		s.outputs = &outputs{base: e.id}
		a.made = append(a.made, s)
		if s.kind == taskShuffleMap && s.RDDs.Own >= 0 {
			a.byRDD[s.RDDs.Own] = s
		}
	}
	id := lossID{s.outputs, r.partition}
	if l := a.losses[id]; l != nil {
		l.row.RecomputedBy = schema.Some(a.keys.attempts.Nth(int64(ordinal)))
		a.writeLoss(l, finish)
		delete(a.losses, id)
	}
	if a.pages < maxPages || a.forgetOutputs() {
		a.pages += s.outputs.put(r.partition, output{attempt: ordinal + 1, taskID: uint32(e.id - s.outputs.base),
			executor: r.exec.ordinal, phase: r.phase.ordinal})
	}
}

// maxPages bounds the outputs that are remembered: 100 MiB for 6 million.
const maxPages = 100 << 10

// forgetOutputs drops the outputs of a stage that no running job computes, the oldest first.
func (a *app) forgetOutputs() bool {
	for range min(len(a.made), 64) {
		s := a.made[0]
		a.made = a.made[1:]
		if s.active() {
			a.made = append(a.made, s)
			continue
		}
		a.pages -= len(s.outputs.pages)
		s.outputs.pages, s.outputs.last = nil, nil
		return true
	}
	return false
}

func (s *stage) active() bool {
	for _, j := range s.jobs {
		if !j.ended {
			return true
		}
	}
	return false
}

// resubmitted records that the output of a finished attempt was lost while its stage was still running. The event repeats the
// times of the attempt.
func (a *app) resubmitted(e *taskEnd) {
	p := a.phase(e.stage, e.stageAttempt)
	if p == nil {
		return
	}
	task, partition := p.partition(&e.task)
	out := p.stage.outputs.find(partition)
	if out == nil || out.taskID != uint32(e.id-p.stage.outputs.base) {
		return
	}
	exec := a.executorList[out.executor]
	a.lose(p.stage, partition, out, 0, schema.Null[schema.Key]{})
	p.runAgain(task, exec.lostAt)
}

// fetchFailed records that an attempt could not read an output. Spark then discards all outputs of that executor.
func (a *app) fetchFailed(r *run, e *taskEnd, ordinal uint32, finish int64) {
	exec := a.executors[e.fetch.Executor]
	if exec != nil {
		exec.lost = true
		exec.noticed(finish)
	}
	f := fetchLoss{reader: r.phase.stage, shuffle: e.fetch.shuffle, partition: e.fetch.mapIndex, taskID: e.fetch.mapID,
		exec: exec, attempt: ordinal, time: finish}
	if f.partition < 0 {
		// Spark before 3.0 has the partition here, and no index.
		f.partition, f.taskID = e.fetch.mapID, none
	}
	for _, s := range a.parents(r.phase.stage, r.phase.job) {
		s.unread = true
	}
	if exec == nil || f.partition < 0 {
		return
	}
	if s := a.producer(&f); s != nil {
		a.loseFetched(s, &f)
	} else if len(a.unresolved) < maxUnresolved {
		a.unresolved = append(a.unresolved, f)
	}
}

// producer returns the stage that wrote a shuffle: the reader's only parent, or the only one whose output for that partition was
// on the executor in question. A parent that a job skips was computed by an earlier job.
func (a *app) producer(f *fetchLoss) *stage {
	if s := a.shuffles[f.shuffle]; s != nil && f.shuffle >= 0 {
		return s
	}
	var found *stage
	parents := a.parents(f.reader, f.reader.lastJob())
	for _, s := range parents {
		s = a.maker(s)
		if len(parents) > 1 && a.fetched(s, f) == nil {
			continue
		}
		if found != nil && found != s {
			return nil
		}
		found = s
	}
	if found != nil && f.shuffle >= 0 {
		a.shuffles[f.shuffle] = found
	}
	return found
}

func (s *stage) lastJob() *job { return s.jobs[len(s.jobs)-1] }

// maker returns the stage that computed the outputs of s: s itself, or if it was skipped an earlier one of the same RDD.
func (a *app) maker(s *stage) *stage {
	if s.outputs == nil && a.byRDD[s.RDDs.Own] != nil {
		return a.byRDD[s.RDDs.Own]
	}
	return s
}

// fetched returns the output of s that a reader failed to fetch, or nil if there is none or if it is elsewhere by now.
func (a *app) fetched(s *stage, f *fetchLoss) *output {
	out := s.outputs.find(f.partition)
	if out == nil || out.executor != f.exec.ordinal || f.taskID >= 0 && out.taskID != uint32(f.taskID-s.outputs.base) {
		return nil
	}
	return out
}

func (a *app) loseFetched(s *stage, f *fetchLoss) {
	if out := a.fetched(s, f); out != nil {
		a.lose(s, f.partition, out, f.time, schema.Some(a.keys.attempts.Nth(int64(f.attempt))))
	}
}

// resolve assigns the failed fetches that could be of several stages to one of them that is submitted again.
func (a *app) resolve(p *phase) {
	a.unresolved = slices.DeleteFunc(a.unresolved, func(f fetchLoss) bool {
		for _, s := range a.parents(f.reader, f.reader.lastJob()) {
			if s == p.stage && a.fetched(s, &f) != nil {
				a.loseFetched(s, &f)
				return true
			}
		}
		return false
	})
}

// recomputes determines, when a phase is submitted, its relation to earlier outputs.
func (a *app) recomputes(p *phase) {
	s := p.stage
	if len(s.phases) == 1 && s.outputs == nil && s.parent {
		a.reuse(p)
	}
	if p.attempt > 0 && len(a.unresolved) > 0 {
		a.resolve(p)
	}
	if a.partitioned || p.tasks < 0 || p.tasks >= s.full() {
		return
	}
	p.missing = a.missingPartitions(s)
	if int64(len(p.missing)) != p.tasks {
		p.missing = nil
		p.whole = p.attempt > 0 && s.parent && s.unread
	}
}

// reuse makes a new stage continue the outputs of the stage of an earlier job that computed the same RDD, where some of
// them are still there: it has fewer tasks than the RDD has partitions, or they are all gone. Otherwise it is another
// shuffle of that RDD.
func (a *app) reuse(p *phase) {
	prior := a.byRDD[p.stage.RDDs.Own]
	if prior == nil || prior == p.stage || prior.outputs == nil || p.stage.RDDs.Own < 0 {
		return
	}
	if p.tasks >= 0 && p.tasks < p.stage.RDDs.Partitions || a.allLost(prior.outputs) {
		p.stage.outputs = prior.outputs
	}
}

func (a *app) allLost(o *outputs) bool {
	if o.count == 0 {
		return false
	}
	for _, page := range o.pages { // in any order: the answer is the same
		for i := range page {
			if out := &page[i]; out.attempt != 0 && !a.isGone(out) {
				return false
			}
		}
	}
	return true
}

// isGone reports whether an output is lost, or on an executor whose outputs are.
func (a *app) isGone(out *output) bool {
	return out.isLost() || a.executorList[out.executor].lost
}

// maxInferred bounds the partitions examined for missing ones, over a whole log.
const maxInferred = 1 << 28

// missingPartitions returns the partitions without output, in ascending order, which is the order in which Spark creates tasks
// for them. Logs before Spark 3.3 name no partitions; there the n-th task of a re-submitted stage is the n-th of these, if there
// are as many as it has tasks.
func (a *app) missingPartitions(s *stage) []int32 {
	full := s.full()
	if a.inferred += full; full > 1<<24 || a.inferred > maxInferred {
		return nil
	}
	var missing []int32
	for i := range full {
		out := s.outputs.find(i)
		if out == nil || s.kind != taskResult && a.isGone(out) {
			missing = append(missing, int32(i))
		}
	}
	return missing
}

// partition returns the number of a task for its row, and the partition that it computes; none if unknown.
//
// They are the same, except where a job wants some partitions only, as take does: there a task is counted by its
// position, so that the tasks of a phase are always numbered from 0 to its task count.
func (p *phase) partition(t *task) (number, partition int64) {
	some := p.tasks >= 0 && p.tasks < p.stage.full()
	switch {
	case t.partition >= 0 && some && p.attempt == 0 && !p.stage.parent && t.index >= 0:
		return t.index, t.partition
	case t.partition >= 0:
		return t.partition, t.partition
	case p.missing != nil && t.index < int64(len(p.missing)):
		return int64(p.missing[t.index]), int64(p.missing[t.index])
	case some, p.tasks < 0 && p.attempt > 0:
		return t.index, none
	}
	return t.index, t.index
}
