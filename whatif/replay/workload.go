package replay

import (
	"math"

	"straggler/schema"
)

// Workload is a log made ready for replays: pools that share nothing with each other. It is never changed by a replay,
// so any number of them may run at once.
type Workload struct {
	Pools []*Pool
	Notes Notes
}

// Pool is a set of slots and the applications that share them. Instants are µs after Origin. The jobs, phases, tasks
// and attempts of a pool are numbered from 0; the attempts of a phase that start its tasks stand together, in the order
// in which they claimed their slots.
type Pool struct {
	Origin int64 // µs since 1970

	Applications  []*schema.Application
	Settings      map[string]string // of the application, where the pool has one
	jobs          []job
	phases        []phase
	tasks         []task
	attempts      []attempt
	points        []Point   // reports of progress of all pools
	ratioOf       []int32   // the attempt that each ratio is of, where the log holds progress
	ratios        []float32 // clean ratios of each phase's tasks, see work.go
	slots         []slot
	machines      []machine
	racks         int
	queues        []Queue
	near          *inputs // nil: the tasks run as well anywhere
	staged        *staged // of a planned pool
	solos         int     // attempts with a queue of their own
	direct        int     // attempts without a slot of their own, numbered behind the slots
	limit         int     // most slots in use at once
	executorSlots int
	grid          int64    // µs; instant from which frameworks count their periodic checks
	outputs       *Outputs // nil where none was lost
}

type slot struct {
	machine    int32
	class      Class
	executor   int32 // slots of one executor share a number
	from, till int64
}

type machine struct {
	name    string
	factor  float32 // time relative to the other machines, 1 = like them
	windows []window
	slots   []int32
	rack    int32
	// computing is how many attempts on reduce slots may compute at once, under copy-compute splitting; 0: all.
	computing int32
}

// window is a span of time in which a machine had a factor of its own.
type window struct {
	from, till int64
	factor     float32
}

// at is the machine's factor at an instant.
func (m *machine) at(t int64) float32 {
	for i := range m.windows {
		if w := &m.windows[i]; t >= w.from && t < w.till {
			return w.factor
		}
	}
	return m.factor
}

// job is a unit of work: it is released, its phases run, and it ends.
type job struct {
	key, app  schema.Key
	name      string
	after     int32 // the job whose end releases it, -1: released at an instant
	gap       int64 // after that, or the instant
	tail      int64 // from the end of its last phase to its own
	empty     int64 // without phases: how long it took
	observed  int64 // completion time in the log, -1 where it does not say
	phases    int32 // phases with attempts
	taskCount int32
	queue     int32
	limit     int32   // most tasks that it runs at once
	followers []int32 // jobs that wait for this one
	roots     []int32 // phases that wait for its release only
}

// phase is a set of tasks with its releases.
type phase struct {
	key             schema.Key
	job             int32
	firstTask       int32
	tasks           int32
	first           int32 // its attempts in pool.attempts: launches in claim order, then solo ones
	launches        int32
	gap             int64 // from its anchors to its release
	anchors         int32 // conditions to wait for
	gated           int32 // parents that its early attempts wait for, see attempt.gated
	firstRatio      int32
	ratios          int32
	copyLag         int64 // from a copy's claim to its start
	far             float32
	kind            string
	class           Class
	gang, recompute bool
	parents         []int32   // phases whose outputs it reads
	shuffles        bool      // of a planned pool: it has any
	watchers        []watcher // phases that wait for this one, by count
	gates           []int32   // phases whose early attempts wait for all of this one
	soloAtRelease   []int32   // attempts that are launched at its release and need no slot
}

// watcher is a phase that is released a gap after count tasks of this phase are over.
type watcher struct {
	phase int32
	count int32
}

// task is a unit of a phase.
type task struct {
	phase    int32
	attempts int32   // attempts in the log
	work     float32 // predicted seconds on an average machine, see work.go
	ratio    int32   // its own place among the ratios of its phase, -1 none
	machine  int32   // where its first attempt ran
	bytes    int64
	records  int64
}

// attempt is an observed attempt.
type attempt struct {
	id      schema.Key
	dur     int64 // from its start to its end; from the end of its parents where gated
	lag     int64 // from its claim to its start
	wait    int64 // at the head of its queue before it claimed
	ready   int64 // solo: after the end (or start) of the attempt before
	key     int64 // the observed claim, by which queues are ordered
	task    int32
	slot    int32
	held    int32 // most idle slots that it left unused while it waited
	next    int32 // attempt released by its end, -1 none
	afterOK int32 // attempt released when the task succeeds at or after this one, -1 none
	fork    int32 // observed copy released by its start, -1 none
	ok      bool  // it succeeded
	again   bool  // it makes an output again that was lost
	gated   bool  // it began before its parents ended and ended after them
	reports curve
	solo    int32 // its number among the attempts with a queue of their own, -1: it waits in the queue of its phase
}

// Notes say what was assumed to make the workload and what had to be left out.
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
	LonelyPhases     int     // phases of one task: a copy has nothing to be drawn from
	MachinesSlow     int     // machines with a factor that differs from 1
	HealthWindows    int     // factors taken from the analysis of causes
	Reported         int     // attempts whose progress the log holds
	LongestS         float64 // duration of the longest attempt that succeeded
	MostSlots        int     // of any pool
	JobsWithoutEnd   int
	JobsWithoutStart int
}

// Jobs is the number of jobs of the pool.
func (p *Pool) Jobs() int { return len(p.jobs) }

// JobKeys are the keys of job j and of its application.
func (p *Pool) JobKeys(j int) (job, app schema.Key) { return p.jobs[j].key, p.jobs[j].app }

// Observed is the completion time of job j in the log, in µs; -1 where the log does not say.
func (p *Pool) Observed(j int) int64 { return p.jobs[j].observed }

// JobName is what job j is called, JobQueue the queue that it is in.
func (p *Pool) JobName(j int) string { return p.jobs[j].name }
func (p *Pool) JobQueue(j int) Queue { return p.queues[p.jobs[j].queue] }

// Work is the seconds that all slots together would take for the original attempts, and when the last job that arrives by
// itself does.
func (p *Pool) Work() (work, arrival float64) {
	var sum [Classes]float64
	for a := range p.attempts {
		sum[p.phases[p.tasks[p.attempts[a].task].phase].class] += float64(p.attempts[a].dur) / 1e6
	}
	var slots [Classes]float64
	for n := range p.slots {
		slots[p.slots[n].class]++
	}
	for c := range sum {
		work = max(work, sum[c]/max(slots[c], 1))
	}
	for j := range p.jobs {
		if p.jobs[j].after < 0 {
			arrival = max(arrival, float64(p.jobs[j].gap)/1e6)
		}
	}
	return work, arrival
}

// JobTasks is the number of tasks of job j.
func (p *Pool) JobTasks(j int) int { return int(p.jobs[j].taskCount) }

// Slots is how many tasks can run at once.
func (p *Pool) Slots() int { return min(p.limit, len(p.slots)) }

// Tasks is the number of tasks of the pool.
func (p *Pool) Tasks() int { return len(p.tasks) }

// Attempts is the number of attempts of the pool.
func (p *Pool) Attempts() int { return len(p.attempts) }

const forever = int64(math.MaxInt64)

func (p *Pool) version() string {
	if len(p.Applications) == 0 {
		return ""
	}
	return p.Applications[0].FrameworkVersion.Or("")
}

// PhaseKey is the key of a phase, JobOf the number of its job, MachineName the name of a machine.
func (p *Pool) PhaseKey(phase int32) schema.Key  { return p.phases[phase].key }
func (p *Pool) JobOf(phase int32) int            { return int(p.phases[phase].job) }
func (p *Pool) MachineName(machine int32) string { return p.machines[machine].name }
