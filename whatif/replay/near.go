package replay

import "straggler/whatif/workload"

// nearest returns the waiting task of a phase with its input nearest to a machine, within a level.
func (s *Sim) nearest(i, machine int32, most workload.Level) (int32, workload.Level, bool) {
	if s.sched.phases[i].waiting <= 0 {
		return -1, 0, false
	}
	in := s.p.Inputs
	if from, till := in.Entries(i); from == till {
		t := s.nextWaiting(i)
		return t, workload.NodeLocal, t >= 0
	}
	if t := s.waitsUnder(i, machine); t >= 0 {
		return t, workload.NodeLocal, true
	}
	if t := s.waitsUnder(i, workload.NoInput); t >= 0 {
		return t, workload.NodeLocal, true
	}
	if most < workload.RackLocal {
		return -1, 0, false
	}
	if t := s.waitsUnder(i, workload.RackKey(s.p.Machines[machine].Rack)); t >= 0 {
		return t, workload.RackLocal, true
	}
	if most < workload.OffRack {
		return -1, 0, false
	}
	t := s.nextWaiting(i)
	return t, workload.OffRack, t >= 0
}

// reads counts the locality of a task of a log and returns its duration: longer by the factor of its phase if its input is on
// another machine.
func (s *Sim) reads(task, machine int32, dur int64) int64 {
	if len(s.p.ReplicasOf(task)) == 0 {
		return dur
	}
	p := &s.p.Phases[s.p.Tasks[task].Phase]
	level := s.p.LevelAt(task, machine)
	out := &s.out.Jobs[p.Job]
	out.Levels[level]++
	out.Read[level] += max(s.p.Tasks[task].Bytes, 0)
	if level > workload.NodeLocal && p.Far > 1 && s.o.Took == nil {
		return scale(dur, p.Far)
	}
	return dur
}

// waitsUnder returns the first waiting task of an entry; -1 if there is none.
func (s *Sim) waitsUnder(i, key int32) int32 {
	in := s.p.Inputs
	e := in.Entry(i, key)
	if e < 0 {
		return -1
	}
	first, cursor := s.p.Phases[i].FirstTask, &s.sched.cursors[e]
	for ; *cursor < in.From[e+1]; *cursor++ {
		if t := in.Tasks[*cursor]; s.sched.first[first+t] >= 0 {
			return t
		}
	}
	return -1
}

// farTasks is the number of tasks of a phase sampled for the cost of reading on any machine.
const farTasks = 100

// farPlanned returns the mean duration of a task of a planned pool on any machine, relative to those that succeeded where they
// ran.
func (s *Sim) farPlanned(i int32) float64 {
	p, run := &s.p.Phases[i], &s.phases[i]
	if s.p.Stages.Network != nil || p.Shuffles || len(run.done) == 0 {
		return 1
	}
	if run.anywhere == 0 {
		step := max(p.Tasks/farTasks, 1)
		n := 0.0
		for t := int32(0); t < p.Tasks; t += step {
			run.anywhere += s.anywhere(p.FirstTask + t)
			n++
		}
		run.anywhere /= n
	}
	for _, d := range run.done[run.counted:] {
		run.read += float64(s.p.Stages.Slowdown[s.p.LevelAt(p.FirstTask+d.Task, d.Machine)])
	}
	run.counted = len(run.done)
	return run.anywhere * float64(run.counted) / run.read
}

// anywhere returns the mean factor of reading a task's input over all machines.
func (s *Sim) anywhere(task int32) float64 {
	sum := 0.0
	for m := range s.p.Machines {
		sum += float64(s.p.Stages.Slowdown[s.p.LevelAt(task, int32(m))])
	}
	return sum / float64(len(s.p.Machines))
}
