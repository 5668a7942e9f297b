package workload

import (
	"cmp"
	"slices"
	"sync"

	"straggler/schema"
)

// Inputs have the machines with the input of each task, and an index of the tasks of a phase by machine and rack. They are built
// once for a pool and never changed.
type Inputs struct {
	Start    []int32 // by task: first of its replicas in machines
	Machines []int32

	once  sync.Once // the index is made when a scheduler first needs it
	Phase []int32   // by phase: first of its entries
	Key   []int32   // by entry, ascending in a phase: a machine; noInput; or −2 − a rack
	From  []int32   // by entry: first of its tasks
	Tasks []int32   // within their phase
}

// NoInput is the key of tasks whose input has no location.
const NoInput = -1

// RackKey returns the key of a rack.
func RackKey(rack int32) int32 { return -2 - rack }

// ReplicasOf returns the machines that have the input of a task.
func (p *Pool) ReplicasOf(task int32) []int32 {
	if p.Inputs == nil {
		return nil
	}
	return p.Inputs.Machines[p.Inputs.Start[task]:p.Inputs.Start[task+1]]
}

// LevelAt returns how near its data a task would run on a machine.
func (p *Pool) LevelAt(task, machine int32) Level {
	replicas := p.ReplicasOf(task)
	if len(replicas) == 0 || slices.Contains(replicas, machine) {
		return NodeLocal
	}
	rack := p.Machines[machine].Rack
	for _, m := range replicas {
		if p.Machines[m].Rack == rack {
			return RackLocal
		}
	}
	return OffRack
}

// Entries returns the range of the entries of a phase.
func (in *Inputs) Entries(phase int32) (from, till int32) {
	if in == nil {
		return 0, 0
	}
	return in.Phase[phase], in.Phase[phase+1]
}

// Entry finds the tasks of a phase under a key; -1 where there are none.
func (in *Inputs) Entry(phase, key int32) int32 {
	from, till := in.Entries(phase)
	n, ok := slices.BinarySearch(in.Key[from:till], key)
	if !ok {
		return -1
	}
	return from + int32(n)
}

// Index makes the index of inputs whose start and machines are known.
func (p *Pool) Index() {
	if p.Inputs != nil {
		p.Inputs.once.Do(p.makeIndex)
	}
}

func (p *Pool) makeIndex() {
	in := p.Inputs
	in.Phase = append(in.Phase[:0], 0)
	type line struct{ key, task int32 }
	var lines []line
	for i := range p.Phases {
		lines = lines[:0]
		f := &p.Phases[i]
		any := false
		for t := range f.Tasks {
			replicas := p.ReplicasOf(f.FirstTask + t)
			any = any || len(replicas) > 0
			if len(replicas) == 0 {
				lines = append(lines, line{NoInput, t})
			}
			for k, m := range replicas {
				lines = append(lines, line{m, t})
				rack := p.Machines[m].Rack
				if !slices.ContainsFunc(replicas[:k], func(o int32) bool { return p.Machines[o].Rack == rack }) {
					lines = append(lines, line{RackKey(rack), t})
				}
			}
		}
		if any {
			slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.key, b.key) })
			for n, l := range lines {
				if n == 0 || l.key != lines[n-1].key {
					in.Key, in.From = append(in.Key, l.key), append(in.From, int32(len(in.Tasks)))
				}
				in.Tasks = append(in.Tasks, l.task)
			}
		}
		in.Phase = append(in.Phase, int32(len(in.Key)))
	}
	in.From = append(in.From, int32(len(in.Tasks)))
}

// shared fills in what schedulers other than the log's need: the queue of each job, which is the application's queue, or its
// user, and the locations of the input of tasks: the machine of an attempt that the log calls local. If a task ran elsewhere, the
// log does not say which machines had its input.
func (d *draft) shared(g *group) {
	d.racksOf(g.machines)
	number := map[string]int32{}
	ofApp := map[schema.Key]int32{}
	for _, a := range g.apps {
		name := a.Queue.Or(a.User.Or(""))
		n, ok := number[name]
		if !ok {
			n = int32(len(d.Queues))
			number[name] = n
			d.Queues = append(d.Queues, Queue{Name: name})
		}
		ofApp[a.ApplicationID] = n
	}
	for j := range d.Jobs {
		d.Jobs[j].Queue = ofApp[d.Jobs[j].App]
	}
	in := &Inputs{Start: make([]int32, 1, len(d.Tasks)+1)}
	at := make([]int32, len(d.Tasks))
	for a := len(d.Attempts) - 1; a >= 0; a-- {
		if d.attemptRow[a].Local == Near {
			at[d.Attempts[a].Task] = 1 + d.machineOf(&d.Attempts[a])
		}
	}
	for _, m := range at {
		if m > 0 {
			in.Machines = append(in.Machines, m-1)
		}
		in.Start = append(in.Start, int32(len(in.Machines)))
	}
	if len(in.Machines) > 0 {
		d.Inputs = in
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
	for m := range d.Machines {
		name := rackOf[d.Machines[m].Name]
		n, ok := number[name]
		if !ok {
			n = int32(len(number))
			number[name] = n
		}
		d.Machines[m].Rack = n
	}
	d.Racks, d.RacksKnown = len(number), len(rackOf) > 0
}
