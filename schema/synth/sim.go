package synth

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"straggler/schema"
)

// sim generates one application. Everything happens at instants, in milliseconds; at each, events are processed first, in the
// order of the queue, and then slots are assigned.
type sim struct {
	ctx     context.Context
	o       *Options
	cluster *cluster
	random  random // of the application
	shape   random // of its jobs; the same for all applications that recur
	emit    func(*Event) error
	err     error

	now   int64
	start int64
	queue queue
	app   schema.Application

	execs []*executor
	free  []int32 // the executor of each free slot
	given int     // slots assigned so far

	jobs     []*job
	jobsOver int
	begun    int
	stages   int // numbered so far

	waiting []*run // with tasks to launch, in the order they are served
	slow    []*run // with tasks to copy

	slab  []attempt
	spare []int32

	losses      []schema.Loss
	makers      []Maker // parallel to losses
	lossPlans   []lossPlan
	jobKeys     *schema.Keys
	phaseKeys   *schema.Keys
	attemptKeys *schema.Keys
	nextTaskID  int64
}

// stageState is the state of a stage in a simulation.
type stageState struct {
	phaseKey schema.Key // of the first submission
	missing  int        // tasks without an output
	done     []uint64   // bit set of tasks with an output
	outs     []output   // who made each task's output; kept only if executors are lost
	outBytes []float64  // outputs on each machine
	runs     []*run     // submissions, the last is the current one
	lost     map[int32]int
	ended    int // successes in the first submission, for planned losses
}

// output is the output of a task on an executor.
type output struct {
	serial        int64 // of the attempt that made it
	exec          int32
	number        int32
	bytes         float64
	start, finish int64
	locality      schema.Locality
	speculative   bool
}

func (s *stage) isDone(task int32) bool { return s.done[task>>6]&(1<<(task&63)) != 0 }

func (s *stage) current() *run {
	if n := len(s.runs); n > 0 && !s.runs[n-1].over {
		return s.runs[n-1]
	}
	return nil
}

// run is a submission of a stage: a phase.
type run struct {
	stage      *stage
	number     int // of the submission
	row        schema.Phase
	tasks      []int32 // nil = all of the stage
	next       int
	window     []int32         // tasks that a local slot may take out of order
	retry      []retry         // tasks to retry, before all others
	nextTry    map[int32]int32 // number of the next attempt, if it is not the first
	failures   map[int32]int
	share      []float64 // of the input on each machine
	rackShare  []float64
	live       []ref // attempts in order of launch; dead ones are removed occasionally
	head       int   // those before this index are dead or marked
	running    int
	lastSerial int64 // of its attempts; an earlier submission's are all lower
	left       int   // of its tasks without an output
	over       bool
	closed     bool
	last       int64 // end of its last attempt
	speed      speed
}

type retry struct {
	task int32
	at   int64
}

// ref identifies an attempt in the slab; its position may have been reused since.
type ref struct {
	at     int32
	serial int64
}

type outcome int8

const (
	succeeds outcome = iota
	fails
	failsToFetch
)

// attempt is a running attempt.
type attempt struct {
	row     schema.Attempt
	truth   AttemptTruth
	run     *run
	exec    int32
	task    int32
	serial  int64 // number in the application, from 1; 0 = the position in the slab is free
	sibling ref   // the other running attempt of the task
	start   int64
	end     int64 // planned
	whole   int64 // its full duration
	fetched int64 // instant at which it has read its input
	outcome outcome
	marked  bool // chosen to be copied, or a copy
	loss    int  // index of the loss that made it fail, or -1
	written float64
}

func newSim(ctx context.Context, o *Options, c *cluster, app int, start schema.Time, emit func(*Event) error) *sim {
	root := random(mix(o.Seed))
	s := &sim{ctx: ctx, o: o, cluster: c, random: root.of(app + 1), shape: root.of(app + 1), emit: emit, now: ms(start), start: ms(start)}
	if o.Shape.Recurring {
		s.shape = root.of(1)
	}
	native := fmt.Sprintf("app-%d-%04d", o.Seed, app)
	input := inputKey(o, app)
	s.jobKeys, s.phaseKeys, s.attemptKeys = schema.NewKeys(input, "jobs"), schema.NewKeys(input, "phases"), schema.NewKeys(input, "attempts")
	s.app = schema.Application{
		ApplicationID: schema.NewKeys(input, "applications").Next(), NativeID: native, Name: schema.Some(o.Scenario),
		User: schema.Some("synth"), Framework: "spark", FrameworkVersion: schema.Some("3.5.6"), StartTime: s.time(s.now),
		Status: schema.RunRunning, SourceFile: native, TimeOrigin: "epoch",
	}
	return s
}

// inputKey returns the key of the input that an application of the options represents.
func inputKey(o *Options, app int) schema.Key {
	return schema.InputKey(fmt.Sprintf("synth-%s-%d-%d", o.Scenario, o.Seed, app), nil)
}

func (s *sim) time(at int64) schema.Null[schema.Time] { return schema.Some(schema.FromMillis(at)) }

// run runs the application from its start to its end.
func (s *sim) run() error {
	s.send(&Event{Kind: ApplicationStarted, Application: &s.app, Settings: s.settings()})
	s.now += 1000
	for _, m := range s.cluster.machines {
		s.addExecutor(m)
	}
	s.planLosses()
	for range min(s.o.Shape.InFlight, s.o.Shape.Jobs) {
		s.queueNextJob(1000)
	}
	for s.jobsOver < s.o.Shape.Jobs && s.err == nil {
		s.step()
	}
	s.now += 100
	for i := range s.losses {
		s.send(&Event{Kind: LossKnown, Loss: &s.losses[i]})
	}
	for _, x := range s.execs {
		s.send(&Event{Kind: MachineKnown, Machine: &x.row})
	}
	s.app.FinishTime, s.app.Status, s.app.Complete = s.time(s.now), schema.RunSucceeded, true
	s.send(&Event{Kind: ApplicationEnded, Application: &s.app})
	return s.err
}

// step processes everything at the next instant.
func (s *sim) step() {
	if s.err = s.ctx.Err(); s.err != nil {
		return
	}
	s.now = s.queue.peek().at
	for s.queue.len() > 0 && s.queue.peek().at == s.now && s.jobsOver < s.o.Shape.Jobs {
		switch e := s.queue.pop(); e.kind {
		case attemptEnds:
			if a := &s.slab[e.ref.at]; a.serial == e.ref.serial && a.end == s.now {
				s.endAttempt(e.ref.at)
			}
		case jobArrives:
			s.beginJob()
		case stageAgain:
			if !e.stage.job.over {
				s.submit(e.stage)
			}
		case executorBack:
			s.addExecutor(s.cluster.machines[e.ref.at])
		case lookForSlow:
			s.lookForSlow(e.run)
		}
	}
	s.dispatch()
}

func (s *sim) send(e *Event) {
	if s.err != nil {
		return
	}
	e.Time = schema.FromMillis(s.now)
	s.err = s.emit(e)
}

func (s *sim) settings() []schema.Setting {
	set := func(name, value string) schema.Setting {
		return schema.Setting{ApplicationID: s.app.ApplicationID, Name: name, Value: value}
	}
	all := []schema.Setting{set("spark.app.name", s.o.Scenario), set("spark.speculation", strconv.FormatBool(s.o.Speculation != nil))}
	if p := s.o.Speculation; p != nil {
		all = append(all, set("spark.speculation.multiplier", strconv.FormatFloat(p.Multiplier, 'g', -1, 64)),
			set("spark.speculation.quantile", strconv.FormatFloat(p.Quantile, 'g', -1, 64)))
	}
	return all
}

func (s *sim) addExecutor(m *machine) {
	x := &executor{id: strconv.Itoa(len(s.execs)), machine: m, slots: s.o.Cluster.Slots}
	x.row = schema.Machine{
		ApplicationID: schema.Some(s.app.ApplicationID), Machine: m.Machine, Executor: schema.Some(x.id),
		Slots: schema.Some(int64(x.slots)), Cores: schema.Some(float64(x.slots)), MemoryBytes: schema.Some(int64(x.slots) << 32),
		Platform: schema.Some(m.platform), AddedTime: s.time(s.now),
	}
	if !s.o.Hide.Racks {
		x.row.Rack = schema.Some(m.Rack)
	}
	for range x.slots {
		s.free = append(s.free, int32(len(s.execs)))
	}
	s.execs = append(s.execs, x)
	s.send(&Event{Kind: ExecutorAdded, Machine: &x.row})
}

// queueNextJob schedules the arrival of the next job after at least the given number of milliseconds.
func (s *sim) queueNextJob(least int64) {
	if s.begun == s.o.Shape.Jobs {
		return
	}
	gap := s.random.of(s.begun).between(forGap, s.o.Shape.GapS)
	s.begun++
	s.queue.push(event{at: s.now + max(least, int64(gap*1000)), kind: jobArrives})
}

// beginJob plans the next job and submits the stages that can start.
func (s *sim) beginJob() {
	j := planJob(s.o, s.shape, len(s.jobs), s.stages)
	s.stages += len(j.stages)
	s.jobs = append(s.jobs, j)
	j.row = schema.Job{JobID: s.jobKeys.Next(), ApplicationID: s.app.ApplicationID, NativeID: strconv.Itoa(j.id),
		Name: schema.Some(fmt.Sprintf("collect at Synth.scala:%d", 100*(j.id+1)+len(j.stages)-1)), SubmitTime: s.time(s.now), Status: schema.RunRunning}
	var skewed []SkewedTask
	plan := make([]PhasePlan, len(j.stages))
	for i, st := range j.stages {
		st.phaseKey = s.phaseKeys.Next()
		st.missing, st.done = st.tasks, make([]uint64, (st.tasks+63)/64)
		st.outBytes = make([]float64, len(s.cluster.machines))
		if s.o.Faults.Loss.PerApplication > 0 {
			st.outs = make([]output, st.tasks)
		}
		plan[i] = PhasePlan{Phase: s.phaseRow(st, 0, st.tasks)}
		for _, p := range st.parents {
			plan[i].Parents = append(plan[i].Parents, strconv.Itoa(p.id))
		}
		skewed = append(skewed, st.skewed(st.phaseKey)...)
	}
	s.send(&Event{Kind: JobStarted, Job: &j.row, Plan: plan, Skewed: skewed})
	s.submit(j.stages[len(j.stages)-1])
}

func (s *sim) phaseRow(st *stage, number, tasks int) schema.Phase {
	return schema.Phase{PhaseID: st.phaseKey, JobID: st.job.row.JobID, NativeID: strconv.Itoa(st.id), Attempt: int32(number),
		Name: schema.Some(st.name), Kind: st.kind, TaskCount: schema.Some(int64(tasks)), Status: schema.RunSkipped}
}

// submit submits a stage that has no running submission, or first the stages whose outputs it lacks.
func (s *sim) submit(st *stage) {
	if st.missing == 0 || st.current() != nil {
		return
	}
	ready := true
	for _, p := range st.parents {
		if p.missing > 0 {
			ready = false
			s.submit(p)
		}
	}
	if !ready {
		return
	}
	r := &run{stage: st, number: len(st.runs), left: st.missing}
	r.row = s.phaseRow(st, r.number, st.missing)
	if r.number > 0 {
		r.row.PhaseID = s.phaseKeys.Next()
		r.row.Recompute = len(st.lost) > 0
		for k := range st.tasks {
			if !st.isDone(int32(k)) {
				r.tasks = append(r.tasks, int32(k))
			}
		}
	}
	r.row.SubmitTime, r.row.Status = s.time(s.now), schema.RunRunning
	s.shares(r)
	st.runs = append(st.runs, r)
	s.send(&Event{Kind: PhaseSubmitted, Phase: &r.row, Edges: edges(st, &r.row)})
	s.wait(r)
}

// edges joins a phase to all submissions of its stage's parents so far: any of them may have made its input.
func edges(st *stage, row *schema.Phase) []schema.Edge {
	var out []schema.Edge
	add := func(from schema.Key) {
		out = append(out, schema.Edge{JobID: row.JobID, FromPhase: from, ToPhase: row.PhaseID, Pattern: schema.AllToAll, Barrier: true})
	}
	for _, p := range st.parents {
		for _, r := range p.runs {
			add(r.row.PhaseID)
		}
		if len(p.runs) == 0 {
			add(p.phaseKey)
		}
	}
	return out
}

// shares computes which share of a submission's input is on which machine and rack.
func (s *sim) shares(r *run) {
	if r.stage.source() {
		return
	}
	r.share = make([]float64, len(s.cluster.machines))
	r.rackShare = make([]float64, len(s.cluster.slowRack))
	total := 0.0
	for _, p := range r.stage.parents {
		for m, b := range p.outBytes {
			r.share[m] += b
			total += b
		}
	}
	for m := range r.share {
		r.share[m] /= total
		r.rackShare[s.cluster.machines[m].rack] += r.share[m]
	}
}

// wait inserts a run among those with tasks to launch: ordered by job, then by stage.
func (s *sim) wait(r *run) {
	at, found := slices.BinarySearchFunc(s.waiting, r, func(a, b *run) int {
		return cmp.Or(cmp.Compare(a.stage.id, b.stage.id), cmp.Compare(a.number, b.number))
	})
	if !found {
		s.waiting = slices.Insert(s.waiting, at, r)
	}
}
