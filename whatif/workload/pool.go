package workload

import (
	"math"

	"straggler/schema"
)

// Workload is a log prepared for replays: pools that share nothing with each other. Replays do not modify it, so any number of
// them may run at once.
type Workload struct {
	Pools []*Pool
	Notes Notes
}

// Pool is a set of slots and the applications that share them. Instants are µs after Origin. The jobs, phases, tasks and
// attempts of a pool are numbered from 0; the attempts of a phase that start its tasks are contiguous, in the order in which
// they claimed their slots.
type Pool struct {
	Origin int64 // µs since 1970

	Applications  []*schema.Application
	Settings      map[string]string // of the application, where the pool has one
	Jobs          []Job
	Phases        []Phase
	Tasks         []Task
	Attempts      []Attempt
	BySize        []int32 // of each launch: its position among those of its phase in descending order of their tasks' data
	Scatter       SharedScatter
	Points        []Point   // reports of progress of all pools
	RatioOf       []int32   // the attempt that each ratio is of
	Losers        []int32   // attempts that were killed because another of their task succeeded
	Ratios        []float32 // clean ratios of each phase's tasks, see work.go
	Slots         []Slot
	Machines      []Machine
	Racks         int
	RacksKnown    bool // the log says in which rack some machine is; otherwise all count as one
	Queues        []Queue
	Inputs        *Inputs // nil: the tasks run as well anywhere
	Stages        *Stages // of a planned pool
	Solos         int     // attempts with a queue of their own
	Direct        int     // attempts without a slot of their own, numbered behind the slots
	Limit         int     // most slots in use at once
	ExecutorSlots int
	Grid          int64    // µs; instant from which frameworks count their periodic checks
	outputs       *Outputs // nil where none was lost
}

// Slot is room for one attempt at a time on a machine, from an instant until another.
type Slot struct {
	Machine    int32
	Class      Class
	Executor   int32 // slots of one executor share a number
	From, Till int64
}

// Machine is a machine with its slots.
type Machine struct {
	Name    string
	Factor  float32 // time relative to the other machines, 1 = like them
	SD      float32 // standard deviation of its logarithm
	Windows []Window
	Slots   []int32
	Rack    int32
	// Computing is how many attempts on reduce slots may compute at once, under copy-compute splitting; 0: all.
	Computing int32
}

// Window is a span of time in which a machine had a factor of its own.
type Window struct {
	From, Till int64
	Factor, SD float32
}

// At returns the machine's factor at an instant.
func (m *Machine) At(t int64) float32 {
	for i := range m.Windows {
		if w := &m.Windows[i]; t >= w.From && t < w.Till {
			return w.Factor
		}
	}
	return m.Factor
}

// Job is a unit of work: it is released, its phases run, and it ends.
type Job struct {
	Key, App  schema.Key
	Name      string
	After     int32 // the job whose end releases it, -1: released at an instant
	Gap       int64 // after that, or the instant
	Tail      int64 // from the end of its last phase to its own
	Empty     int64 // without phases: how long it took
	Observed  int64 // completion time in the log, -1 where it does not say
	Phases    int32 // phases with attempts
	TaskCount int32
	Unended   int32 // attempts whose end the log does not hold
	Unstarted int32 // attempts left out because the log has no start for them; they are not among its tasks
	Queue     int32
	Limit     int32   // most tasks that it runs at once
	Followers []int32 // jobs that wait for this one
	Roots     []int32 // phases that wait for its release only
}

// Phase is a set of tasks with its releases.
type Phase struct {
	Key        schema.Key
	Job        int32
	FirstTask  int32
	Tasks      int32
	First      int32 // its attempts in Pool.Attempts: launches in claim order, then solo ones
	Launches   int32
	Gap        int64 // from its anchors to its release
	Anchors    int32 // conditions to wait for
	Gated      int32 // parents that its early attempts wait for, see Attempt.Gated
	FirstRatio int32
	Ratios     int32
	CopyLag    int64 // from a copy's claim to its start
	Far        float32
	Sigma      float32 // standard deviation of ln(ratio) among ordinary attempts
	Kind       string
	Class      Class
	Gang       bool
	Parents    []int32 // phases whose outputs it reads
	Shuffles   bool    // of a planned pool: it has any
	// of a planned pool: what its attempts report when they have copied their input; 0: progress is of the whole time
	CopyScore     float32
	Watchers      []Watcher // phases that wait for this one, by count
	Gates         []int32   // phases whose early attempts wait for all of this one
	SoloAtRelease []int32   // attempts that are launched at its release and need no slot
}

// Watcher is a phase that is released a gap after count tasks of this phase are over.
type Watcher struct {
	Phase int32
	Count int32
}

// Task is a unit of a phase.
type Task struct {
	Phase    int32
	Attempts int32   // attempts in the log
	Work     float32 // predicted seconds on an average machine, see work.go
	Slope    float32 // change of ln(Work) with one standard error of the coefficients that it rests on
	Ratio    int32   // its own place among the ratios of its phase, -1 none
	Machine  int32   // where its first attempt ran
	Bytes    int64
	Records  int64
}

// Attempt is an observed attempt.
type Attempt struct {
	ID      schema.Key
	Dur     int64 // from its start to its end; from the end of its parents where gated
	Lag     int64 // from its claim to its start
	Wait    int64 // at the head of its queue before it claimed
	Ready   int64 // solo: after the end (or start) of the attempt before
	Key     int64 // the observed claim, by which queues are ordered
	Task    int32
	Slot    int32
	Held    int32 // most idle slots that it left unused while it waited
	Next    int32 // attempt released by its end, -1 none
	AfterOK int32 // attempt released when the task succeeds at or after this one, -1 none
	Fork    int32 // observed copy released by its start, -1 none
	Ok      bool  // it succeeded
	Again   bool  // it makes an output again that was lost
	First   bool  // it was among the first of its phase on its machine
	Gated   bool  // it began before its parents ended and ended after them
	Reports Curve
	Solo    int32 // its number among the attempts with a queue of their own, -1: it waits in the queue of its phase
}

// Notes count what was assumed in building the workload and what had to be left out.
type Notes struct {
	Attempts         int     // taken
	NoTimes          int     // attempts left out because the log has no start for them
	Unended          int     // attempts whose end the log does not hold
	Copies           int     // speculative copies in the log itself, replayed as they were
	MeasuredSlots    int     // slots taken from measured concurrency
	DeclaredSlots    int     // slots taken from the log
	OverSlots        int     // attempts that ran beyond the declared slots; they need none in the replay
	NoMachine        int     // attempts whose machine is unknown
	Gated            int     // attempts that began before their parents ended
	SmallPhases      int     // phases with fewer than two finished tasks, which give no distribution for a copy
	MachinesSlow     int     // machines that differ from the others by 15 % or more, in some window of time
	Reported         int     // attempts whose progress the log holds
	LongestS         float64 // duration of the longest attempt
	LongestJobS      float64 // completion time of the longest job whose start and end the log has
	MostSlots        int     // of any pool
	Racks            int     // that the log names, most of any pool; 0: none
	Without          int     // applications that lack what another scheduler than the log's needs
	JobsWithoutEnd   int
	JobsWithoutStart int
	Contradicted     int // jobs that end before their tasks did, by more than they took
}

// MostlyUntimed reports that the log lacks the starts or the ends of more attempts than it holds.
func (n *Notes) MostlyUntimed() bool { return 2*(n.Unended+n.NoTimes) > n.Attempts+n.NoTimes }

// Add adds the notes of other pools.
func (n *Notes) Add(m *Notes) {
	n.Attempts += m.Attempts
	n.NoTimes += m.NoTimes
	n.Unended += m.Unended
	n.Copies += m.Copies
	n.MeasuredSlots += m.MeasuredSlots
	n.DeclaredSlots += m.DeclaredSlots
	n.OverSlots += m.OverSlots
	n.NoMachine += m.NoMachine
	n.Gated += m.Gated
	n.SmallPhases += m.SmallPhases
	n.MachinesSlow += m.MachinesSlow
	n.Reported += m.Reported
	n.JobsWithoutEnd += m.JobsWithoutEnd
	n.JobsWithoutStart += m.JobsWithoutStart
	n.Contradicted += m.Contradicted
	n.Without += m.Without
	n.LongestS, n.LongestJobS = max(n.LongestS, m.LongestS), max(n.LongestJobS, m.LongestJobS)
	n.MostSlots, n.Racks = max(n.MostSlots, m.MostSlots), max(n.Racks, m.Racks)
}

// NumJobs returns the number of jobs of the pool.
func (p *Pool) NumJobs() int { return len(p.Jobs) }

// JobKeys returns the keys of job j and of its application.
func (p *Pool) JobKeys(j int) (job, app schema.Key) { return p.Jobs[j].Key, p.Jobs[j].App }

// Observed returns the completion time of job j in the log, in µs, or -1 if the log does not say.
func (p *Pool) Observed(j int) int64 { return p.Jobs[j].Observed }

// MostlyUntimed reports that the log lacks the starts or the ends of more attempts than half of the tasks of job j, each attempt
// without a start counted as a task.
func (p *Pool) MostlyUntimed(j int) bool {
	x := &p.Jobs[j]
	return 2*(x.Unended+x.Unstarted) > x.TaskCount+x.Unstarted
}

// JobName returns what job j is called, JobQueue the queue that it is in.
func (p *Pool) JobName(j int) string { return p.Jobs[j].Name }
func (p *Pool) JobQueue(j int) Queue { return p.Queues[p.Jobs[j].Queue] }

// Work returns the seconds that all slots together need for the original attempts, and the last arrival of a job that does not
// wait for another one.
func (p *Pool) Work() (work, arrival float64) {
	var sum [Classes]float64
	for a := range p.Attempts {
		sum[p.Phases[p.Tasks[p.Attempts[a].Task].Phase].Class] += float64(p.Attempts[a].Dur) / 1e6
	}
	var slots [Classes]float64
	for n := range p.Slots {
		slots[p.Slots[n].Class]++
	}
	for c := range sum {
		work = max(work, sum[c]/max(slots[c], 1))
	}
	for j := range p.Jobs {
		if p.Jobs[j].After < 0 {
			arrival = max(arrival, float64(p.Jobs[j].Gap)/1e6)
		}
	}
	return work, arrival
}

// JobTasks returns the number of tasks of job j.
func (p *Pool) JobTasks(j int) int { return int(p.Jobs[j].TaskCount) }

// Capacity returns the number of tasks that can run at once.
func (p *Pool) Capacity() int { return min(p.Limit, len(p.Slots)) }

// NumTasks returns the number of tasks of the pool.
func (p *Pool) NumTasks() int { return len(p.Tasks) }

// Forever is the instant that never comes.
const Forever = int64(math.MaxInt64)

// Version returns the version of the framework, or "" if the log does not say.
func (p *Pool) Version() string {
	if len(p.Applications) == 0 {
		return ""
	}
	return p.Applications[0].FrameworkVersion.Or("")
}

// PhaseKey returns the key of a phase, JobOf the number of its job, MachineName the name of a machine.
func (p *Pool) PhaseKey(phase int32) schema.Key  { return p.Phases[phase].Key }
func (p *Pool) JobOf(phase int32) int            { return int(p.Phases[phase].Job) }
func (p *Pool) MachineName(machine int32) string { return p.Machines[machine].Name }
