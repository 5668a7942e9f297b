package hadoop

import (
	"cmp"
	"regexp"
	"slices"
	"sort"
	"strings"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/schema"
)

// rows converts the jobs of one input to rows; keys are allocated in the order of the jobs.
type rows struct {
	source                                  string
	framework                               string
	applications, jobs, phases, attemptKeys *schema.Keys
	out                                     schema.Trace
}

func newRows(input schema.Key, source, framework string) *rows {
	return &rows{
		source: source, framework: framework,
		applications: schema.NewKeys(input, "applications"), jobs: schema.NewKeys(input, "jobs"),
		phases: schema.NewKeys(input, "phases"), attemptKeys: schema.NewKeys(input, "attempts"),
	}
}

// add appends all rows of a job: one application with one job, and a phase per kind of task.
func (r *rows) add(j *job) {
	app, id := r.applications.Next(), r.jobs.Next()
	r.out.Applications = append(r.out.Applications, schema.Application{
		ApplicationID: app, NativeID: j.id, Name: read.NullText(j.name), User: read.NullText(j.user), Queue: read.NullText(j.queue),
		Framework: r.framework, FrameworkVersion: read.NullText(j.version),
		StartTime: read.Millis(j.submit), FinishTime: read.Millis(j.finish), Status: j.runStatus(),
		SourceFile: r.source, Complete: j.complete, TimeOrigin: "epoch",
	})
	for _, s := range j.settings {
		s.ApplicationID = app
		r.out.Settings = append(r.out.Settings, s)
	}
	b := jobRows{rows: r, job: j, app: app, id: id, machines: map[string]string{}}
	b.build()
	job := schema.Job{
		JobID: id, ApplicationID: app, NativeID: j.id, Name: read.NullText(j.name),
		SubmitTime: read.Millis(j.submit), StartTime: b.first, FinishTime: read.Millis(j.finish), Status: j.runStatus(),
	}
	if before(job.StartTime, job.SubmitTime) {
		job.SubmitTime = job.StartTime
	}
	a := &r.out.Applications[len(r.out.Applications)-1]
	if before(job.FinishTime, cmp.Or(job.StartTime, job.SubmitTime)) {
		job.FinishTime = schema.Null[schema.Time]{}
	}
	a.StartTime, a.FinishTime = job.SubmitTime, job.FinishTime
	r.out.Jobs = append(r.out.Jobs, job)
	for _, c := range append(j.caveats, b.caveats()...) {
		c.ApplicationID = app
		r.out.Caveats = append(r.out.Caveats, c)
	}
}

type jobRows struct {
	*rows
	job       *job
	app, id   schema.Key
	machines  map[string]string // host → rack
	first     schema.Null[schema.Time]
	rackless  int64
	running   int64
	skewed    int64                // attempts that started or ended, by their machine's clock, before they were scheduled
	phaseKeys [numKinds]schema.Key // 0 if there is none
	lost      []lostOutput
	byID      map[string]schema.Key // keys of attempts, once an output is lost
}

// lostOutput is a loss; the attempt that reported it may come later.
type lostOutput struct {
	row    schema.Loss
	reason string
}

func (b *jobRows) build() {
	b.job.sort()
	b.needIDs()
	share := b.remoteShare()
	for k := range numKinds {
		if ts := b.job.tasks[k]; len(ts) > 0 {
			b.phase(k, ts, share)
		}
	}
	b.edges()
	for _, l := range b.lost {
		if key, ok := b.byID[witness.FindString(l.reason)]; ok {
			l.row.DetectedBy = schema.Some(key)
		}
		b.out.Losses = append(b.out.Losses, l.row)
	}
	hosts := make([]string, 0, len(b.machines))
	for h := range b.machines {
		hosts = append(hosts, h)
	}
	sort.Strings(hosts)
	for _, h := range hosts {
		b.out.Machines = append(b.out.Machines, schema.Machine{ApplicationID: schema.Some(b.app), Machine: h, Rack: read.NullText(b.machines[h])})
	}
}

// edges adds what phases wait for: tasks for the job's setup, its cleanup for tasks. Reduces start while maps still run (slow
// start), so that edge is not a barrier.
func (b *jobRows) edges() {
	first, last := mapTask, reduceTask
	if b.phaseKeys[mapTask] == 0 {
		first = reduceTask
	}
	if b.phaseKeys[reduceTask] == 0 {
		last = mapTask
	}
	for _, e := range []struct {
		from, to kind
		barrier  bool
	}{{setupTask, first, true}, {mapTask, reduceTask, false}, {last, cleanupTask, true}} {
		if from, to := b.phaseKeys[e.from], b.phaseKeys[e.to]; from != 0 && to != 0 {
			b.out.Edges = append(b.out.Edges, schema.Edge{JobID: b.id, FromPhase: from, ToPhase: to, Pattern: schema.AllToAll, Barrier: e.barrier})
		}
	}
}

// witness matches the attempt that newer texts name: 'Last failure reported by attempt_… from host …'.
var witness = regexp.MustCompile(`attempt_\d+_\d+_[mr]_\d+_\d+`)

// needIDs prepares to find attempts by their ids if a lost output may name one.
func (b *jobRows) needIDs() {
	for _, t := range b.job.tasks[mapTask] {
		for _, a := range t.attempts {
			if a.lostReason != "" {
				b.byID = map[string]schema.Key{}
				return
			}
		}
	}
}

// taskCount returns the number of planned tasks of a phase: as logged for the job, or as implied by the indices, since the log
// may lack some.
func (b *jobRows) taskCount(k kind, ts []*task) int64 {
	n := max(int64(len(ts)), ts[len(ts)-1].index+1)
	switch k {
	case mapTask:
		return max(n, b.job.maps)
	case reduceTask:
		return max(n, b.job.reduces)
	}
	return n
}

func (b *jobRows) phase(k kind, ts []*task, remoteShare map[string]float64) {
	if k == setupTask || k == cleanupTask { // their ids count on from those of the maps
		for i, t := range ts {
			t.index = int64(i)
		}
	}
	p := schema.Phase{
		PhaseID: b.phases.Next(), JobID: b.id, NativeID: k.String(), Name: read.NullText(k.String()), Kind: k.String(),
		TaskCount: schema.Some(b.taskCount(k, ts)), Status: schema.RunSucceeded,
	}
	b.phaseKeys[k] = p.PhaseID
	for _, t := range ts {
		if at := read.Millis(t.scheduled); at.OK && (!p.SubmitTime.OK || at.V < p.SubmitTime.V) {
			p.SubmitTime = at
		}
		done := b.task(p.PhaseID, t, remoteShare, &p)
		if !done && p.Status == schema.RunSucceeded {
			p.Status = b.job.runStatus()
			if p.Status == schema.RunSucceeded { // a task may fail without failing the job
				p.Status = schema.RunFailed
			}
		}
	}
	for _, at := range []schema.Null[schema.Time]{p.StartTime, p.FinishTime} {
		if before(at, p.SubmitTime) {
			p.SubmitTime = at
		}
	}
	if p.StartTime.OK && (!b.first.OK || p.StartTime.V < b.first.V) {
		b.first = p.StartTime
	}
	b.out.Phases = append(b.out.Phases, p)
}

// task emits the attempts of a task in the order of their start, and the losses of its output. It reports whether one of them
// succeeded.
func (b *jobRows) task(phase schema.Key, t *task, remoteShare map[string]float64, p *schema.Phase) bool {
	slices.SortStableFunc(t.attempts, func(a, c *attempt) int {
		return cmp.Or(cmp.Compare(a.number, c.number), cmp.Compare(a.order, c.order))
	})
	for i := 1; i < len(t.attempts); i++ { // in a damaged log two ids may have the same number
		t.attempts[i].number = max(t.attempts[i].number, t.attempts[i-1].number+1)
	}
	if len(t.attempts) > 1 {
		inferSpeculative(t.attempts)
	} else if len(t.attempts) == 1 && !t.attempts[0].speculative.OK && t.attempts[0].start > 0 {
		t.attempts[0].speculative = schema.Some(false)
	}
	keys := make([]schema.Key, len(t.attempts))
	first := len(b.out.Attempts)
	done := false
	for i, a := range t.attempts {
		row := b.attempt(phase, t, a, remoteShare)
		keys[i] = row.AttemptID
		b.out.Attempts = append(b.out.Attempts, row)
		if b.byID != nil {
			b.byID[a.id] = row.AttemptID
		}
		b.progress(&row, t.kind, a)
		done = done || a.status == schema.Success
		p.ExtendWindow(&row)
	}
	for i, a := range t.attempts {
		if a.lostReason == "" {
			continue
		}
		loss := schema.Loss{PhaseID: phase, Task: t.index, AttemptID: schema.Some(keys[i]), Machine: read.NullText(a.location.host)}
		// The record that discards the output repeats the attempt's own finish time, so the loss is dated by the attempt that
		// recomputes it.
		for k := range t.attempts {
			if c := t.attempts[k]; k != i && c.start > 0 && c.start >= a.finish && c.number > a.number {
				b.out.Attempts[first+k].Recompute = true
				loss.RecomputedBy, loss.Time = schema.Some(keys[k]), read.Millis(c.start)
				break
			}
		}
		b.lost = append(b.lost, lostOutput{loss, a.lostReason})
	}
	return done
}

func (b *jobRows) attempt(phase schema.Key, t *task, a *attempt, remoteShare map[string]float64) schema.Attempt {
	row := schema.Attempt{
		AttemptID: b.attemptKeys.Next(), PhaseID: phase, JobID: b.id, ApplicationID: b.app,
		Task: t.index, Number: a.number, NativeID: a.id, Machine: read.NullText(a.location.host), Rack: read.NullText(a.location.rack),
		Executor: read.NullText(a.container), StartTime: read.Millis(a.start), FinishTime: read.Millis(a.finish),
		Status: a.status, Reason: read.NullText(a.reason), Speculative: a.speculative, Locality: a.locality,
	}
	if a.number == 0 {
		row.QueuedTime = read.Millis(t.scheduled)
	}
	if row.StartTime.OK && row.FinishTime.OK {
		if row.FinishTime.V < row.StartTime.V {
			row.FinishTime = schema.Null[schema.Time]{}
			row.Quality |= schema.TimeRepaired
		} else {
			row.DurationS = schema.Some(row.FinishTime.V.Sub(row.StartTime.V))
		}
	}
	if row.DropLateQueue() {
		b.skewed++
	}
	if !row.StartTime.OK || !row.FinishTime.OK {
		row.Quality |= schema.PartialRow
	}
	if row.Status == schema.Running {
		b.running++
		if b.job.complete { // its master died, or its tracker: the job went on without it
			row.Status = schema.UnknownStatus
		}
	}
	if !row.Rack.OK {
		row.Quality |= schema.RackUnknown
		b.rackless++
	}
	if a.location.host != "" && b.machines[a.location.host] == "" {
		b.machines[a.location.host] = a.location.rack
	}
	if !row.Locality.OK {
		row.Locality = t.locality(a.location)
	}
	a.counters.fill(&row, t.kind, remoteShare)
	row.DropLongParts()
	return row
}

// fill sets the columns from counters. Failed attempts have none.
func (c *counters) fill(row *schema.Attempt, k kind, remoteShare map[string]float64) {
	if !c.counted() {
		row.Quality |= schema.MetricsMissing
		return
	}
	row.GCS = seconds(c.get(gcMillis))
	// Where Hadoop cannot see the process, as without /proc, both counters are 0; every process has some memory.
	if row.PeakMemoryBytes = c.get(physicalMemory); row.PeakMemoryBytes == schema.Some[int64](0) {
		row.PeakMemoryBytes = schema.Null[int64]{}
	} else {
		row.CPUS = seconds(c.get(cpuMillis))
	}
	row.OutputBytes = c.get(bytesWritten)
	switch k {
	case mapTask:
		row.InputBytes, row.InputRecords = c.get(bytesRead), c.get(inputRecords)
		if !row.InputBytes.OK {
			row.InputBytes = c.get(mapInputBytes)
		}
		row.ShuffleWriteBytes = c.mapOutput()
		c.mapLocality(row)
	case reduceTask:
		row.InputBytes, row.InputRecords = c.get(shuffleBytes), c.get(reduceRecords)
		if row.InputBytes.V == 0 && row.InputRecords.V > 0 { // Hadoop 0.20 may leave it uncounted
			row.InputBytes = schema.Null[int64]{}
		}
		if share, ok := remoteShare[row.Machine.V]; ok && row.Machine.OK && row.InputBytes.OK {
			remote := int64(share*float64(row.InputBytes.V) + 0.5)
			row.RemoteBytes, row.LocalBytes = schema.Some(remote), schema.Some(row.InputBytes.V-remote)
			row.Quality |= schema.BytesEstimated
		}
	}
}

// mapOutput returns what a map wrote for the reduces: compressed, if the log has that.
func (c *counters) mapOutput() schema.Null[int64] {
	if n := c.get(outputMaterialized); n.OK {
		return n
	}
	return c.get(outputBytes)
}

// inferSpeculative marks an attempt that started while another of its task ran, if the log does not record speculation.
func inferSpeculative(as []*attempt) {
	for i, a := range as {
		if a.speculative.OK || a.start <= 0 {
			continue
		}
		copied, known := false, true
		for _, o := range as[:i] {
			if o.start > 0 && o.finish > 0 {
				copied = copied || o.start < a.start && a.start < o.finish
			} else if o.status == schema.Running {
				known = false
			}
		}
		if known || copied {
			a.speculative = schema.Some(copied)
		}
	}
}

// anchors adds samples for a reduce whose history has no splits, from the definition of its score: a third when all is
// copied, two thirds when all is sorted, and the whole when it succeeded.
func (b *jobRows) anchors(row *schema.Attempt, a *attempt) {
	at := []int64{a.copied, a.sorted}
	if row.Status == schema.Success {
		at = append(at, a.finish)
	}
	if !slices.IsSorted(append([]int64{max(a.start, 1)}, append(at, a.finish)...)) {
		return
	}
	for i, ms := range at {
		b.out.Progress = append(b.out.Progress, schema.Progress{
			AttemptID: row.AttemptID, Time: schema.Time(ms * 1000), Progress: float64(i+1) / 3, Source: schema.Reported,
		})
	}
}

// progress converts the splits of an attempt to samples: after Σ splits[0..i] milliseconds it had completed (i+1)/n. If the sum
// is off by more than 5 %, the splits are not scaled but ignored. For an attempt that did not succeed, the framework records
// the buckets after its death as 0, so its samples end with the last bucket that has a substantial time.
func (b *jobRows) progress(row *schema.Attempt, k kind, a *attempt) {
	n := len(a.splits)
	switch {
	case !row.DurationS.OK:
		return
	case n == 0 && k == reduceTask:
		b.anchors(row, a)
		return
	case n == 0:
		return
	}
	var sum int64
	last := -1
	for i, ms := range a.splits {
		if ms < 0 {
			break
		}
		sum += ms
		if ms > 1 {
			last = i
		}
	}
	d := (row.FinishTime.V - row.StartTime.V) / 1000
	if sum <= 0 || absolute(int64(d)-sum)*20 > int64(d) {
		return
	}
	done := row.Status == schema.Success
	var at int64
	for i, ms := range a.splits {
		if ms < 0 || !done && i >= last { // the time within the bucket in which it died is unknown
			return
		}
		at += ms
		b.out.Progress = append(b.out.Progress, schema.Progress{
			AttemptID: row.AttemptID, Time: row.StartTime.V + schema.Time(float64(at)/float64(sum)*float64(d)+0.5)*1000,
			Progress: float64(i+1) / float64(n), Source: schema.Bucketed,
		})
	}
}

func (b *jobRows) caveats() []schema.Caveat {
	var cs []schema.Caveat
	if !b.job.complete {
		cs = append(cs, schema.Caveat{Code: "log_incomplete", Detail: "the history stops before the job's end"})
	}
	if b.job.masters > 1 {
		cs = append(cs, schema.Caveat{Code: "master_restarted", Count: schema.Some(b.job.masters - 1),
			Detail: "the application master was started again; attempts that it wrote again count once"})
	}
	if b.skewed > 0 {
		cs = append(cs, schema.Caveat{Code: "clock_skew", Count: schema.Some(b.skewed),
			Detail: "attempts started or ended, by their machines' clocks, before the master's clock says they were scheduled: when they were queued is unknown, and submissions are moved to the first start or end"})
	}
	if b.running > 0 {
		cs = append(cs, schema.Caveat{Code: "starts_without_end", Count: schema.Some(b.running),
			Detail: "attempts have a start and no end in the log; they are kept as running, or with status unknown where the job has ended"})
	}
	if b.rackless > 0 {
		cs = append(cs, schema.Caveat{Code: "no_rack", Count: schema.Some(b.rackless),
			Detail: "attempts without a rack, or all on /default-rack: cross-rack traffic is unknown"})
	}
	return cs
}

func (j *job) runStatus() schema.RunStatus {
	switch strings.ToUpper(j.status) {
	case "SUCCEEDED", "SUCCESS":
		return schema.RunSucceeded
	case "FAILED", "ERROR":
		return schema.RunFailed
	case "KILLED":
		return schema.RunKilled
	case "PREP", "RUNNING", "INITED", "":
		if !j.complete {
			return schema.RunRunning
		}
	}
	return schema.RunUnknown
}

// before reports whether one instant is known to precede another. Masters and machines have separate clocks, minutes apart in
// real logs: what started had been submitted by then.
func before(a, b schema.Null[schema.Time]) bool { return a.OK && b.OK && a.V < b.V }

func seconds(ms schema.Null[int64]) schema.Null[float64] {
	if !ms.OK || ms.V < 0 {
		return schema.Null[float64]{}
	}
	return schema.Some(float64(ms.V) / 1000)
}

func absolute(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}

// emit passes the rows to the sink and drops them.
func (r *rows) emit(out *ingest.Sink) error {
	err := ingest.EmitTrace(out, &r.out)
	r.out.Reset()
	return err
}
