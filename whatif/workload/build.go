package workload

import (
	"cmp"
	"math"
	"slices"

	"straggler/causes/model"
	"straggler/schema"
)

// Build builds a workload from rows with all attempts of one or more applications.
func Build(r *Rows) *Workload {
	b := NewBuilder(r)
	batches := b.Batches(math.MaxInt64, func(schema.Key) int64 { return 0 })
	if len(batches) == 0 {
		return &Workload{}
	}
	return b.Only(batches[0])
}

// group is the rows of one pool.
type group struct {
	apps     []*schema.Application
	jobs     []*schema.Job
	phases   []*schema.Phase
	edges    []*schema.Edge
	machines []*schema.Machine
	attempts []int32 // into Rows.Attempts
	// unstarted is how many attempts of a phase have no start; they are not among attempts, and are removed once they are counted.
	unstarted map[schema.Key]int32
}

// shareSlots assigns applications to pools. Applications without slots of their own share those of the whole cluster, if the
// log declares any.
func shareSlots(r *Rows) map[schema.Key]int {
	own := map[schema.Key]bool{}
	cluster := false
	for i := range r.Machines {
		m := &r.Machines[i]
		if m.Slots.Or(0) <= 0 {
			continue
		}
		if m.ApplicationID.OK {
			own[m.ApplicationID.V] = true
		} else {
			cluster = true
		}
	}
	pools := make(map[schema.Key]int, len(r.Applications))
	n, shared := 0, -1
	for i := range r.Applications {
		id := r.Applications[i].ApplicationID
		if cluster && !own[id] {
			if shared < 0 {
				shared, n = n, n+1
			}
			pools[id] = shared
			continue
		}
		pools[id], n = n, n+1
	}
	return pools
}

// Share keeps only some applications and those that share slots with them, and their machines, and returns the keys of the
// applications kept, since applications that share slots are replayed together.
func (r *Rows) Share(some []schema.Key) []schema.Key {
	pools, used := shareSlots(r), map[int]bool{}
	for _, k := range some {
		used[pools[k]] = true
	}
	left := func(application schema.Key) bool { p, ok := pools[application]; return ok && used[p] }
	r.Applications = slices.DeleteFunc(r.Applications, func(a schema.Application) bool { return !left(a.ApplicationID) })
	r.Machines = slices.DeleteFunc(r.Machines, func(m schema.Machine) bool { return m.ApplicationID.OK && !left(m.ApplicationID.V) })
	keys := make([]schema.Key, len(r.Applications))
	for i := range r.Applications {
		keys[i] = r.Applications[i].ApplicationID
	}
	return keys
}

// with returns the group with attempts; building reorders its lists.
func (g group) with(attempts []int32, unstarted map[schema.Key]int32) *group {
	g.jobs, g.phases, g.attempts, g.unstarted = slices.Clone(g.jobs), slices.Clone(g.phases), attempts, unstarted
	return &g
}

// draft is a pool under construction with the observed times; it is discarded once the pool is calibrated.
type draft struct {
	*Pool
	group *group
	rows  *Rows
	notes *Notes

	attemptRow []*LoggedAttempt // of each attempt
	start, end []int64          // observed, µs after Origin; end is where the replay ends it: a loser ends with the winner
	claim      []int64
	prev       []int32 // the attempt that releases it, -1: the phase does

	phaseRow           []*schema.Phase
	released, phaseEnd []int64
	taskEnd            []int64 // when the task needed no further attempt
	ends               [][]int64

	jobRow  []*schema.Job
	jobDone []int64
	cutoff  int64 // the last instant of the log
}

// newDraft builds the pool of a group, before the model is applied to its tasks and machines.
func newDraft(r *Rows, g *group, notes *Notes) *draft {
	d := &draft{Pool: &Pool{Applications: g.apps, Points: r.points}, group: g, rows: r, notes: notes}
	d.settings(g.apps)
	d.origin(g)
	d.units(g)
	d.chains()
	d.endings()
	d.releases(g.edges)
	d.jobReleases()
	d.place(g.machines)
	d.gate()
	d.order()
	d.calibrate()
	d.shared(g)
	return d
}

// finish returns the pool of a draft.
func (d *draft) finish(m *model.Model) *Pool {
	d.model(m)
	d.sizes()
	d.orderBySize()
	d.losses(d.group.edges)
	return d.Pool
}

// sizes notes the largest numbers of the pool.
func (d *draft) sizes() {
	d.notes.MostSlots = max(d.notes.MostSlots, d.Capacity())
	if d.RacksKnown {
		d.notes.Racks = max(d.notes.Racks, d.Racks)
	}
	for a := range d.Attempts {
		d.notes.LongestS = max(d.notes.LongestS, float64(d.Attempts[a].Dur)/1e6)
	}
	for j := range d.Jobs {
		d.notes.LongestJobS = max(d.notes.LongestJobS, float64(d.Jobs[j].Observed)/1e6)
	}
}

func (d *draft) settings(apps []*schema.Application) {
	if len(apps) != 1 {
		return
	}
	d.Settings = map[string]string{}
	for i := range d.rows.Settings {
		if s := &d.rows.Settings[i]; s.ApplicationID == apps[0].ApplicationID {
			d.Settings[s.Name] = s.Value
		}
	}
}

// origin finds the first and the last instant of the pool. Nothing is released before the first, so that no replay has a
// negative time: a phase may have been submitted before its first attempt, and its job have no submission in the log.
func (d *draft) origin(g *group) {
	first, last := Forever, NoTime
	see := func(t int64) {
		if t != NoTime {
			first, last = min(first, t), max(last, t)
		}
	}
	for _, j := range g.jobs {
		see(micros(j.SubmitTime))
		see(micros(j.StartTime))
		see(micros(j.FinishTime))
	}
	for _, p := range g.phases {
		see(micros(p.SubmitTime))
	}
	for _, a := range g.attempts {
		see(d.rows.Attempts[a].Start)
		see(d.rows.Attempts[a].Finish)
	}
	if first == Forever {
		first, last = 0, 0
	}
	d.Origin, d.cutoff = first, last-first
	if len(g.apps) == 1 && g.apps[0].StartTime.OK {
		d.Grid = int64(g.apps[0].StartTime.V) - first
	}
}

// at converts an instant of the log to the pool's time.
func (d *draft) at(t int64) int64 {
	if t == NoTime {
		return NoTime
	}
	return t - d.Origin
}

// units numbers jobs, phases, tasks and attempts. Phases without attempts are left out: they took no time that the
// gaps between the others do not hold.
func (d *draft) units(g *group) {
	slices.SortStableFunc(g.jobs, func(a, b *schema.Job) int {
		return cmp.Or(cmp.Compare(micros(a.SubmitTime), micros(b.SubmitTime)), cmp.Compare(a.JobID, b.JobID))
	})
	jobIndex := make(map[schema.Key]int32, len(g.jobs))
	for i, j := range g.jobs {
		jobIndex[j.JobID] = int32(i)
		d.Jobs = append(d.Jobs, Job{Key: j.JobID, App: j.ApplicationID, Name: j.Name.Or(""), After: -1, Observed: -1, Limit: math.MaxInt32})
		d.jobRow = append(d.jobRow, j)
	}

	d.countUnstarted(g, jobIndex)

	rows := d.rows.Attempts
	first := make(map[schema.Key]int64, len(g.phases)) // earliest attempt of each phase
	for i, a := range g.attempts {
		row := &rows[a]
		if i > 0 && rows[g.attempts[i-1]].Phase == row.Phase && row.Start >= rows[g.attempts[i-1]].Start {
			continue // no earlier than one that has been seen
		}
		if t, ok := first[row.Phase]; !ok || row.Start < t {
			first[row.Phase] = row.Start
		}
	}
	g.phases = slices.DeleteFunc(g.phases, func(p *schema.Phase) bool { _, ok := first[p.PhaseID]; return !ok })
	release := func(p *schema.Phase) int64 {
		t := first[p.PhaseID]
		if p.SubmitTime.OK {
			t = min(t, int64(p.SubmitTime.V))
		}
		return t
	}
	slices.SortStableFunc(g.phases, func(a, b *schema.Phase) int {
		return cmp.Or(cmp.Compare(release(a), release(b)), cmp.Compare(a.PhaseID, b.PhaseID))
	})
	// a store may hold one twice
	g.phases = slices.CompactFunc(g.phases, func(a, b *schema.Phase) bool { return a.PhaseID == b.PhaseID })
	phaseIndex := make(map[schema.Key]int32, len(g.phases))
	for i, p := range g.phases {
		phaseIndex[p.PhaseID] = int32(i)
		j := jobIndex[p.JobID]
		d.Jobs[j].Phases++
		d.Phases = append(d.Phases, Phase{Key: p.PhaseID, Job: j, Kind: p.Kind, Gang: p.Gang})
		d.phaseRow = append(d.phaseRow, p)
		d.released = append(d.released, d.at(release(p)))
	}

	d.byPhase(g.attempts, phaseIndex)
	n := len(g.attempts)
	d.Attempts, d.attemptRow = make([]Attempt, 0, n), make([]*LoggedAttempt, 0, n)
	d.start, d.end = make([]int64, 0, n), make([]int64, 0, n)
	for i, a := range g.attempts {
		row := &rows[a]
		ph := phaseIndex[row.Phase]
		if i == 0 || rows[g.attempts[i-1]].Phase != row.Phase || rows[g.attempts[i-1]].Task != row.Task {
			d.newTask(ph)
		}
		d.newAttempt(row)
	}
	d.notes.Attempts += len(g.attempts)
}

// countUnstarted counts the attempts of each job that are left out because they have no start.
func (d *draft) countUnstarted(g *group, jobIndex map[schema.Key]int32) {
	for _, p := range g.phases {
		d.Jobs[jobIndex[p.JobID]].Unstarted += g.unstarted[p.PhaseID]
		delete(g.unstarted, p.PhaseID) // a store may hold a phase twice
	}
}

// byPhase sorts attempts by phase, and those of a phase by task and start.
func (d *draft) byPhase(attempts []int32, phaseIndex map[schema.Key]int32) {
	rows := d.rows.Attempts
	of, from := make([]int32, len(attempts)), make([]int32, len(phaseIndex)+1)
	for i, a := range attempts {
		of[i] = phaseIndex[rows[a].Phase]
		from[of[i]+1]++
	}
	for ph := range len(phaseIndex) {
		from[ph+1] += from[ph]
	}
	next := slices.Clone(from)
	for i, a := range slices.Clone(attempts) {
		attempts[next[of[i]]] = a
		next[of[i]]++
	}
	for ph := range len(phaseIndex) {
		slices.SortFunc(attempts[from[ph]:from[ph+1]], func(a, b int32) int {
			x, y := &rows[a], &rows[b]
			return cmp.Or(cmp.Compare(x.Task, y.Task), cmp.Compare(x.Start, y.Start), cmp.Compare(x.Number, y.Number), cmp.Compare(a, b))
		})
	}
}

func (d *draft) newTask(ph int32) {
	p := &d.Phases[ph]
	if p.Tasks == 0 {
		p.FirstTask, p.First = int32(len(d.Tasks)), int32(len(d.Attempts))
	}
	p.Tasks++
	d.Jobs[p.Job].TaskCount++
	d.Tasks = append(d.Tasks, Task{Phase: ph, Ratio: -1, Machine: -1, Bytes: -1, Records: -1})
}

func (d *draft) newAttempt(row *LoggedAttempt) {
	t := int32(len(d.Tasks) - 1)
	d.Tasks[t].Attempts++
	start, end := d.at(row.Start), d.at(row.Finish)
	if row.Ending == Unended || end == NoTime {
		end = max(d.latest(d.Tasks[t].Phase), start)
		d.notes.Unended++
		d.Jobs[d.Phases[d.Tasks[t].Phase].Job].Unended++
	}
	if row.Copy {
		d.notes.Copies++
	}
	if row.Machine < 0 {
		d.notes.NoMachine++
	}
	if row.reports.N > 0 {
		d.notes.Reported++
	}
	d.Attempts = append(d.Attempts, Attempt{
		ID: row.ID, Again: row.Again, Reports: row.reports, Task: t, Slot: -1, Next: -1, AfterOK: -1, Fork: -1, Solo: -1,
		Ok: row.Ending == Succeeded && row.Finish != NoTime,
	})
	d.attemptRow = append(d.attemptRow, row)
	d.start, d.end = append(d.start, start), append(d.end, max(end, start))
}

// latest returns the latest possible end of an attempt of a phase: the end of its phase, else of its job, else of the log. In a
// log with lost events, attempts that ended long before may appear to be running.
func (d *draft) latest(phase int32) int64 {
	end := d.at(micros(d.phaseRow[phase].FinishTime))
	if end == NoTime {
		end = d.at(micros(d.jobRow[d.Phases[phase].Job].FinishTime))
	}
	if end == NoTime {
		return d.cutoff
	}
	return min(end, d.cutoff)
}

// chains finds what started each attempt: the first attempt of a task is launched with its phase, a retry at the end of the
// previous one, a copy at the start of the one it copies, a recomputation after the success of the one whose output was lost.
func (d *draft) chains() {
	d.prev = make([]int32, len(d.Attempts))
	d.taskEnd = make([]int64, len(d.Tasks))
	for a := 0; a < len(d.Attempts); {
		t := d.Attempts[a].Task
		b := a + int(d.Tasks[t].Attempts)
		d.chain(a, b)
		a = b
	}
}

func (d *draft) chain(from, to int) {
	d.prev[from] = -1
	d.truncate(from, to)
	for i := from + 1; i < to; i++ {
		d.Attempts[i].Solo = int32(d.Solos)
		d.Solos++
		running, last := -1, from
		for j := from; j < i; j++ {
			if d.end[j] > d.start[i] && running < 0 {
				running = j
			}
			if d.end[j] > d.end[last] || d.end[j] == d.end[last] && (d.Attempts[j].Ok || d.start[j] >= d.end[last]) {
				last = j
			}
		}
		if running >= 0 { // a copy: released by the start of what it copies, or of the copy before it
			for d.Attempts[running].Fork >= 0 {
				running = int(d.Attempts[running].Fork)
			}
			d.Attempts[running].Fork, d.prev[i] = int32(i), int32(running)
			d.Attempts[i].Ready = d.start[i] - d.start[running]
			continue
		}
		d.prev[i] = int32(last)
		d.Attempts[i].Ready = d.start[i] - d.end[last]
		if !d.Attempts[last].Ok {
			d.Attempts[last].Next = int32(i)
			continue
		}
		for j := from; j < i; j++ {
			if d.Attempts[j].AfterOK < 0 {
				d.Attempts[j].AfterOK = int32(i)
			}
		}
	}
	for i := from; i < to; i++ {
		d.taskEnd[d.Attempts[from].Task] = max(d.taskEnd[d.Attempts[from].Task], d.end[i])
	}
}

// truncate ends every attempt that was still running when another attempt of its task succeeded. The framework kills it at that
// time, although logs record its end some milliseconds later.
func (d *draft) truncate(from, to int) {
	for i := from; i < to; i++ {
		if !d.Attempts[i].Ok {
			continue
		}
		for j := from; j < to; j++ {
			if j != i && d.end[j] > d.end[i] && (d.start[j] < d.end[i] || j < i && d.start[j] == d.end[i]) {
				d.end[j], d.Attempts[j].Ok = d.end[i], false
			} else if j > i && d.end[j] == d.end[i] && d.start[j] < d.end[i] {
				d.Attempts[j].Ok = false
			}
		}
	}
}

// endings finds when phases and jobs finished their work.
func (d *draft) endings() {
	d.phaseEnd = make([]int64, len(d.Phases))
	d.ends = make([][]int64, len(d.Phases))
	d.jobDone = make([]int64, len(d.Jobs))
	for i := range d.Phases {
		p := &d.Phases[i]
		ends := slices.Clone(d.taskEnd[p.FirstTask : p.FirstTask+p.Tasks])
		slices.Sort(ends)
		d.ends[i] = ends
		d.phaseEnd[i] = ends[len(ends)-1]
		d.jobDone[p.Job] = max(d.jobDone[p.Job], d.phaseEnd[i])
	}
}
