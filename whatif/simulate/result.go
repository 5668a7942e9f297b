package simulate

import (
	"math"
	"slices"

	"straggler/schema"
	"straggler/whatif/replay"
	"straggler/whatif/workload"
)

// Result is what a run gave: its row, and those of its jobs and samples.
type Result struct {
	Run     schema.SimulateRun
	Jobs    []schema.SimulateJob
	Samples []schema.SimulateSample
}

// tally makes the result of a run.
type tally struct {
	*Result
	w     *workload.File
	p     *workload.Pool
	every replay.Time
}

// samples is about how many instants of a run are sampled.
const samples = 150

func newTally(w *workload.File, u *unit, p *workload.Pool) *tally {
	t := &tally{w: w, p: p, Result: &Result{}}
	t.Run = schema.SimulateRun{
		RunID: int64(u.n + 1), Workload: w.Name, Scheduler: u.scheduler.String(), SchedulerOptions: u.scheduler.Parameters(),
		Policy: u.policy.Name, PolicyOptions: u.policy.Parameters(), Seed: u.seed,
	}
	work, arrival := p.Work()
	t.every = max(replay.Seconds((work+arrival)/samples), replay.Millisecond)
	return t
}

// sample notes who has what.
func (t *tally) sample(c *replay.Cluster) {
	at := c.Now().Seconds()
	put := func(what, queue string, value float64) {
		t.Samples = append(t.Samples, schema.SimulateSample{RunID: t.Run.RunID, TimeS: at, What: what, Queue: queue, Value: value})
	}
	queues := c.Queues()
	running, waiting := make([][workload.Classes]int, len(queues)), make([]int, len(queues))
	for _, j := range c.Jobs() {
		for class := range workload.Class(workload.Classes) {
			running[c.Queue(j)][class] += c.JobRunning(j, class)
			waiting[c.Queue(j)] += c.JobWaiting(j, class)
		}
	}
	for q := range queues {
		put("map_slots", queues[q].Name, float64(running[q][workload.MapSlots]))
		if c.Slots(workload.ReduceSlots) > 0 {
			put("reduce_slots", queues[q].Name, float64(running[q][workload.ReduceSlots]))
		}
		put("waiting", queues[q].Name, float64(waiting[q]))
	}
	if t.w.Cluster.Network == nil || t.w.Cluster.Network.Rack == 0 {
		return
	}
	up, down := 0.0, 0.0
	for r := range int32(c.Racks()) {
		l := c.Link(r)
		up, down = up+l.Up/l.UpCapacity, down+l.Down/l.DownCapacity
	}
	put("uplinks", "", up/float64(c.Racks()))
	put("downlinks", "", down/float64(c.Racks()))
}

// sum adds the jobs up.
func (t *tally) sum(sim *replay.Sim, out *replay.Outcome) {
	r := &t.Run
	r.Jobs, r.Tasks = int64(t.p.NumJobs()), int64(t.p.NumTasks())
	first, last, ended := math.Inf(1), 0.0, int64(0)
	var took []float64
	var levels [workload.Levels]int32
	for j := range out.Jobs {
		o := &out.Jobs[j]
		row := schema.SimulateJob{
			RunID: r.RunID, Job: int64(j + 1), Name: t.p.JobName(j), Queue: t.p.JobQueue(j).Name, Tasks: int64(t.p.JobTasks(j)),
			SubmitS: sim.Released(j).Seconds(), TookS: float64(o.Took) / 1e6, Copies: int64(o.Copies), Kills: int64(o.Kills),
			WastedSlotS: float64(o.Waste) / 1e6, TotalSlotS: float64(o.Slots) / 1e6,
		}
		row.NodeLocal, row.RackLocal = locality(o.Levels)
		t.Jobs = append(t.Jobs, row)
		first, last = min(first, row.SubmitS), max(last, row.SubmitS+row.TookS)
		if row.SubmitS+row.TookS <= t.w.Until {
			ended++
		}
		took = append(took, row.TookS)
		for l, n := range o.Levels {
			levels[l] += n
		}
		r.RemoteBytes += o.Read[workload.RackLocal] + o.Read[workload.OffRack]
		r.CrossRackBytes += o.Read[workload.OffRack] + int64(o.Fetched[workload.OffRack])
		r.Copies, r.Kills = r.Copies+row.Copies, r.Kills+row.Kills
		r.WastedSlotS, r.TotalSlotS = r.WastedSlotS+row.WastedSlotS, r.TotalSlotS+row.TotalSlotS
		r.MeanS += row.TookS / float64(len(out.Jobs))
	}
	r.NodeLocal, r.RackLocal = locality(levels)
	r.MakespanS = max(last-first, 0)
	slices.Sort(took)
	r.MedianS, r.P95S = quantile(took, 0.5), quantile(took, 0.95)
	if t.w.Until > 0 {
		r.EndedJobs = schema.Some(ended)
	}
}

// locality returns the share of attempts that ran on a machine with their input, and in a rack with it.
func locality(levels [workload.Levels]int32) (node, rack schema.Null[float64]) {
	n := levels[workload.NodeLocal] + levels[workload.RackLocal] + levels[workload.OffRack]
	if n == 0 {
		return
	}
	return schema.Some(float64(levels[workload.NodeLocal]) / float64(n)), schema.Some(1 - float64(levels[workload.OffRack])/float64(n))
}

// quantile is that of sorted values, between neighbours in proportion.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := q * float64(len(sorted)-1)
	low := int(at)
	if low+1 == len(sorted) {
		return sorted[low]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}
