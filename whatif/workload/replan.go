package workload

import "slices"

// PlanJobs returns the jobs of a log's pool as jobs of a plan, for other clusters and schedulers: their arrivals, or the jobs
// that they followed; phases with what they waited for; tasks with the seconds that the model predicts from their data on a
// normal machine, and their luck. Retries, copies and losses of the log are left out.
func (p *Pool) PlanJobs() []PlanJob {
	jobs := make([]PlanJob, len(p.Jobs))
	number := make([]int, len(p.Phases)) // of a phase within its job
	for j := range jobs {
		jobs[j] = PlanJob{Name: p.Jobs[j].Name, Arrival: float64(p.Jobs[j].Gap) / 1e6, Behind: int(p.Jobs[j].After) + 1}
	}
	for i := range p.Phases {
		f := &p.Phases[i]
		number[i] = len(jobs[f.Job].Phases)
		jobs[f.Job].Phases = append(jobs[f.Job].Phases, PlanPhase{Kind: f.Kind, Tasks: p.planTasks(f)})
	}
	for i := range p.Phases {
		for _, w := range p.Phases[i].Watchers {
			child := &p.Phases[w.Phase]
			if child.Job != p.Phases[i].Job {
				continue
			}
			x := &jobs[child.Job].Phases[number[w.Phase]]
			x.After = append(x.After, number[i])
			if early := float64(w.Count) / float64(p.Phases[i].Tasks); x.Early == 0 || early < x.Early {
				x.Early = max(early, 1e-9)
			}
		}
	}
	return inOrder(jobs)
}

func (p *Pool) planTasks(f *Phase) []PlanTask {
	tasks := make([]PlanTask, f.Tasks)
	for k := range tasks {
		t := &p.Tasks[f.FirstTask+int32(k)]
		tasks[k] = PlanTask{Seconds: float64(t.Work), Luck: 1, Bytes: t.Bytes}
	}
	for a := f.First; a < int32(len(p.Attempts)) && p.Tasks[p.Attempts[a].Task].Phase == p.Tasks[f.FirstTask].Phase; a++ {
		at := &p.Attempts[a]
		if !at.Ok {
			continue
		}
		x := &tasks[at.Task-f.FirstTask]
		took := float64(at.Dur) / 1e6
		if int(at.Slot) < len(p.Slots) {
			took /= float64(p.Machines[p.Slots[at.Slot].Machine].At(at.Key))
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
