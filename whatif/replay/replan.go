package replay

import "slices"

// PlanJobs are the jobs of a pool of a log as a plan has them, for other clusters and schedulers: when they came, or behind
// which other one; phases with what they waited for; tasks with the seconds that their data predicts on a normal
// machine and the luck that they had. Retries, copies and losses of the log are left out.
func (p *Pool) PlanJobs() []PlanJob {
	jobs := make([]PlanJob, len(p.jobs))
	number := make([]int, len(p.phases)) // of a phase within its job
	for j := range jobs {
		jobs[j] = PlanJob{Name: p.jobs[j].name, Arrival: float64(p.jobs[j].gap) / 1e6, Behind: int(p.jobs[j].after) + 1}
	}
	for i := range p.phases {
		f := &p.phases[i]
		number[i] = len(jobs[f.job].Phases)
		jobs[f.job].Phases = append(jobs[f.job].Phases, PlanPhase{Kind: f.kind, Tasks: p.planTasks(f)})
	}
	for i := range p.phases {
		for _, w := range p.phases[i].watchers {
			child := &p.phases[w.phase]
			if child.job != p.phases[i].job {
				continue
			}
			x := &jobs[child.job].Phases[number[w.phase]]
			x.After = append(x.After, number[i])
			if early := float64(w.count) / float64(p.phases[i].tasks); x.Early == 0 || early < x.Early {
				x.Early = max(early, 1e-9)
			}
		}
	}
	return inOrder(jobs)
}

func (p *Pool) planTasks(f *phase) []PlanTask {
	tasks := make([]PlanTask, f.tasks)
	for k := range tasks {
		t := &p.tasks[f.firstTask+int32(k)]
		tasks[k] = PlanTask{Seconds: float64(t.work), Luck: 1, Bytes: t.bytes}
	}
	for a := f.first; a < int32(len(p.attempts)) && p.tasks[p.attempts[a].task].phase == p.tasks[f.firstTask].phase; a++ {
		at := &p.attempts[a]
		if !at.ok {
			continue
		}
		x := &tasks[at.task-f.firstTask]
		took := float64(at.dur) / 1e6
		if int(at.slot) < len(p.slots) {
			took /= float64(p.machines[p.slots[at.slot].machine].at(at.key))
		}
		if x.Seconds <= 0 {
			x.Seconds = took
		} else if took > 0 {
			x.Luck = took / x.Seconds
		}
	}
	return tasks
}

// inOrder leaves out jobs without phases and puts every job after the one that it is behind.
func inOrder(jobs []PlanJob) []PlanJob {
	to := make([]int, len(jobs)) // number + 1
	out := make([]PlanJob, 0, len(jobs))
	add := func(j int) {
		if to[j] != 0 || len(jobs[j].Phases) == 0 {
			return
		}
		chain := []int{j}
		for b := jobs[j].Behind; b > 0 && to[b-1] == 0 && !slices.Contains(chain, b-1); b = jobs[b-1].Behind {
			chain = append(chain, b-1)
		}
		for _, k := range slices.Backward(chain) {
			if to[k] != 0 || len(jobs[k].Phases) == 0 {
				continue
			}
			x := jobs[k]
			// A job without phases passes on what it was behind, its own length left out.
			for x.Behind > 0 && len(jobs[x.Behind-1].Phases) == 0 {
				x.Arrival += jobs[x.Behind-1].Arrival
				x.Behind = jobs[x.Behind-1].Behind
			}
			if x.Behind > 0 {
				x.Behind = to[x.Behind-1]
			}
			out = append(out, x)
			to[k] = len(out)
		}
	}
	for j := range jobs {
		add(j)
	}
	return out
}
