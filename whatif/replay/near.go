package replay

import (
	"cmp"
	"slices"
	"sync"

	"straggler/schema"
)

// inputs say which machines have the input of each task, and find the tasks of a phase that have theirs on a machine or
// in a rack. They are made once for a pool and never changed.
type inputs struct {
	start    []int32 // by task: first of its replicas in machines
	machines []int32

	once  sync.Once // the index is made when a scheduler first needs it
	phase []int32   // by phase: first of its entries
	key   []int32   // by entry, ascending in a phase: a machine; noInput; or −2 − a rack
	from  []int32   // by entry: first of its tasks
	tasks []int32   // within their phase
}

const noInput = -1

func rackKey(rack int32) int32 { return -2 - rack }

// replicasOf are the machines that have the input of a task.
func (p *Pool) replicasOf(task int32) []int32 {
	if p.near == nil {
		return nil
	}
	return p.near.machines[p.near.start[task]:p.near.start[task+1]]
}

// nearness is how near its data a task would run on a machine.
func (p *Pool) nearness(task, machine int32) Level {
	replicas := p.replicasOf(task)
	if len(replicas) == 0 || slices.Contains(replicas, machine) {
		return NodeLocal
	}
	rack := p.machines[machine].rack
	for _, m := range replicas {
		if p.machines[m].rack == rack {
			return RackLocal
		}
	}
	return OffRack
}

// of are the entries of a phase, from the first to before the second.
func (in *inputs) of(phase int32) (from, till int32) {
	if in == nil {
		return 0, 0
	}
	return in.phase[phase], in.phase[phase+1]
}

// entry finds the tasks of a phase under a key; -1 where there are none.
func (in *inputs) entry(phase, key int32) int32 {
	from, till := in.of(phase)
	n, ok := slices.BinarySearch(in.key[from:till], key)
	if !ok {
		return -1
	}
	return from + int32(n)
}

// index makes the index of inputs whose start and machines are known.
func (p *Pool) index() {
	if p.near != nil {
		p.near.once.Do(p.makeIndex)
	}
}

func (p *Pool) makeIndex() {
	in := p.near
	in.phase = append(in.phase[:0], 0)
	type line struct{ key, task int32 }
	var lines []line
	for i := range p.phases {
		lines = lines[:0]
		f := &p.phases[i]
		any := false
		for t := range f.tasks {
			replicas := p.replicasOf(f.firstTask + t)
			any = any || len(replicas) > 0
			if len(replicas) == 0 {
				lines = append(lines, line{noInput, t})
			}
			for k, m := range replicas {
				lines = append(lines, line{m, t})
				rack := p.machines[m].rack
				if !slices.ContainsFunc(replicas[:k], func(o int32) bool { return p.machines[o].rack == rack }) {
					lines = append(lines, line{rackKey(rack), t})
				}
			}
		}
		if any {
			slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.key, b.key) })
			for n, l := range lines {
				if n == 0 || l.key != lines[n-1].key {
					in.key, in.from = append(in.key, l.key), append(in.from, int32(len(in.tasks)))
				}
				in.tasks = append(in.tasks, l.task)
			}
		}
		in.phase = append(in.phase, int32(len(in.key)))
	}
	in.from = append(in.from, int32(len(in.tasks)))
}

// shared fills in what a scheduler needs beyond the log's own: the queue of each job, which is the application's, or its
// user, and where the input of tasks lies: on the machine of an attempt that the log calls local. Where a task ran
// elsewhere the log does not say which machines had its input.
func (d *draft) shared(g *group) {
	d.racksOf(g.machines)
	number := map[string]int32{}
	ofApp := map[schema.Key]int32{}
	for _, a := range g.apps {
		name := a.Queue.Or(a.User.Or(""))
		n, ok := number[name]
		if !ok {
			n = int32(len(d.queues))
			number[name] = n
			d.queues = append(d.queues, Queue{Name: name})
		}
		ofApp[a.ApplicationID] = n
	}
	for j := range d.jobs {
		d.jobs[j].queue = ofApp[d.jobs[j].app]
	}
	in := &inputs{start: make([]int32, 1, len(d.tasks)+1)}
	at := make([]int32, len(d.tasks))
	for a := len(d.attempts) - 1; a >= 0; a-- {
		if d.attemptRow[a].Local == Near {
			at[d.attempts[a].task] = 1 + d.machineOf(a)
		}
	}
	for _, m := range at {
		if m > 0 {
			in.machines = append(in.machines, m-1)
		}
		in.start = append(in.start, int32(len(in.machines)))
	}
	if len(in.machines) > 0 {
		d.near = in
	}
}

// racksOf numbers the racks that the log names; machines without one share a rack.
func (d *draft) racksOf(rows []*schema.Machine) {
	rackOf := map[string]string{}
	for _, m := range rows {
		if m.Rack.OK {
			rackOf[m.Machine] = m.Rack.V
		}
	}
	number := map[string]int32{}
	for m := range d.machines {
		name := rackOf[d.machines[m].name]
		n, ok := number[name]
		if !ok {
			n = int32(len(number))
			number[name] = n
		}
		d.machines[m].rack = n
	}
	d.racks = len(number)
}

// nearest is the waiting task of a phase that is nearest to a machine, if it is no farther than a level.
func (s *Sim) nearest(i, machine int32, most Level) (int32, Level, bool) {
	if s.sched.phases[i].waiting <= 0 {
		return -1, 0, false
	}
	in := s.p.near
	if from, till := in.of(i); from == till {
		t := s.nextWaiting(i)
		return t, NodeLocal, t >= 0
	}
	if t := s.waitsUnder(i, machine); t >= 0 {
		return t, NodeLocal, true
	}
	if t := s.waitsUnder(i, noInput); t >= 0 {
		return t, NodeLocal, true
	}
	if most < RackLocal {
		return -1, 0, false
	}
	if t := s.waitsUnder(i, rackKey(s.p.machines[machine].rack)); t >= 0 {
		return t, RackLocal, true
	}
	if most < OffRack {
		return -1, 0, false
	}
	t := s.nextWaiting(i)
	return t, OffRack, t >= 0
}

// reads counts where a task of a log runs, and gives how long it takes there: longer by the factor of its phase where its
// input is on another machine.
func (s *Sim) reads(task, machine int32, dur int64) int64 {
	if len(s.p.replicasOf(task)) == 0 {
		return dur
	}
	p := &s.p.phases[s.p.tasks[task].phase]
	level := s.p.nearness(task, machine)
	out := &s.out.Jobs[p.job]
	out.Levels[level]++
	out.Read[level] += max(s.p.tasks[task].bytes, 0)
	if level > NodeLocal && p.far > 1 && s.o.Took == nil {
		return scale(dur, p.far)
	}
	return dur
}

// waitsUnder is the first task of an entry that waits, -1 where there is none.
func (s *Sim) waitsUnder(i, key int32) int32 {
	in := s.p.near
	e := in.entry(i, key)
	if e < 0 {
		return -1
	}
	first, cursor := s.p.phases[i].firstTask, &s.sched.cursors[e]
	for ; *cursor < in.from[e+1]; *cursor++ {
		if t := in.tasks[*cursor]; s.sched.first[first+t] >= 0 {
			return t
		}
	}
	return -1
}
