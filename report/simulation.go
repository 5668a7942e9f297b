package report

import (
	"context"
	"fmt"
	"math"
	"slices"

	"straggler/engine"
	"straggler/schema"
	"straggler/stats"
)

// Simulation is a report on the runs of a workload: each scheduler with each policy is an arm of the experiment.
type Simulation struct {
	Workload string          `col:"workload"`
	Jobs     int64           `col:"jobs" doc:"of the first run"`
	Tasks    int64           `col:"tasks" doc:"of the first run"`
	Seeds    int64           `col:"seeds"`
	Arms     []Arm           `col:"arms" doc:"in the order of the workload; the others are compared with the first"`
	Names    []SimulatedName `col:"names" doc:"jobs by name"`
	Times    []TimeShare     `col:"times" doc:"the distribution of completion times over all seeds"`
	Samples  []Sampled       `col:"samples" doc:"the runs of the first seed over time"`
}

// Arm is a scheduler with a policy, over all seeds.
type Arm struct {
	Scheduler      string               `col:"scheduler"`
	Policy         string               `col:"policy"`
	Runs           int64                `col:"runs"`
	MeanS          float64              `col:"mean_s" unit:"s" doc:"mean completion time, over the seeds"`
	P95S           float64              `col:"p95_s" unit:"s"`
	MakespanS      float64              `col:"makespan_s" unit:"s"`
	EndedJobs      schema.Null[float64] `col:"ended_jobs" doc:"jobs that ended by the instant that the workload counts until; NULL where it names none"`
	Gain           schema.Null[float64] `col:"gain" unit:"ratio" doc:"mean completion time of the first arm over this one's, geometric mean over the seeds; NULL for the first"`
	GainLow        schema.Null[float64] `col:"gain_low" unit:"ratio" doc:"lower end of the 95 % interval over the seeds; NULL for one seed"`
	GainHigh       schema.Null[float64] `col:"gain_high" unit:"ratio" doc:"upper end"`
	NodeLocal      schema.Null[float64] `col:"node_local" unit:"fraction"`
	RackLocal      schema.Null[float64] `col:"rack_local" unit:"fraction"`
	CrossRackBytes float64              `col:"cross_rack_bytes" unit:"bytes" doc:"per run"`
	Copies         float64              `col:"copies" doc:"per run"`
	Kills          float64              `col:"kills" doc:"per run"`
	Wasted         schema.Null[float64] `col:"wasted" unit:"fraction" doc:"slot time of killed attempts over that of all"`
}

// SimulatedName is the jobs of a name in an arm.
type SimulatedName struct {
	Scheduler string               `col:"scheduler"`
	Policy    string               `col:"policy"`
	Name      string               `col:"name"`
	Jobs      int64                `col:"jobs" doc:"over all seeds"`
	MeanS     float64              `col:"mean_s" unit:"s"`
	NodeLocal schema.Null[float64] `col:"node_local" unit:"fraction"`
	Gain      schema.Null[float64] `col:"gain" unit:"ratio" doc:"mean over the jobs of the first arm's completion time over this one's"`
	Most      schema.Null[float64] `col:"most" unit:"ratio" doc:"that of the job that gains most"`
}

// TimeShare is a point of the distribution of completion times.
type TimeShare struct {
	Scheduler string  `col:"scheduler"`
	Policy    string  `col:"policy"`
	TookS     float64 `col:"took_s" unit:"s"`
	Share     float64 `col:"share" unit:"fraction" doc:"of the jobs that took at most that long"`
}

// Sampled is a figure at an instant.
type Sampled struct {
	RunID     int64   `col:"run_id"`
	Scheduler string  `col:"scheduler"`
	Policy    string  `col:"policy"`
	TimeS     float64 `col:"time_s" unit:"s"`
	What      string  `col:"what"`
	Queue     string  `col:"queue"`
	Value     float64 `col:"value"`
}

// BuildSimulation reads the simulation of a store.
func BuildSimulation(ctx context.Context, eng engine.Engine) (*Simulation, error) {
	b := &builder{ctx: ctx, eng: eng}
	d := &Simulation{}
	runs, err := collect[schema.SimulateRun](b, "simulate_runs")
	if err == nil {
		d.Names, err = collect[SimulatedName](b, "simulate_names")
	}
	if err == nil {
		d.Times, err = collect[TimeShare](b, "simulate_times")
	}
	if err == nil {
		d.Samples, err = collect[Sampled](b, "simulate_samples")
	}
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	d.arms(runs)
	return d, nil
}

// arms sums the runs up.
func (d *Simulation) arms(runs []schema.SimulateRun) {
	var lists [][]schema.SimulateRun
	for _, r := range runs {
		i := slices.IndexFunc(lists, func(l []schema.SimulateRun) bool { return l[0].Scheduler == r.Scheduler && l[0].Policy == r.Policy })
		if i < 0 {
			i, lists = len(lists), append(lists, nil)
		}
		lists[i] = append(lists[i], r)
	}
	if len(lists) == 0 {
		return
	}
	first := lists[0]
	d.Workload, d.Jobs, d.Tasks, d.Seeds = first[0].Workload, first[0].Jobs, first[0].Tasks, int64(len(first))
	for i, list := range lists {
		a := newArm(list)
		if i > 0 {
			a.gain(first, list)
		}
		d.Arms = append(d.Arms, a)
	}
}

func newArm(list []schema.SimulateRun) Arm {
	a := Arm{Scheduler: list[0].Scheduler, Policy: list[0].Policy, Runs: int64(len(list))}
	n, total, wasted := float64(len(list)), 0.0, 0.0
	mean := func(to *schema.Null[float64], x schema.Null[float64]) {
		if x.OK {
			*to = schema.Some(to.V + x.V/n)
		}
	}
	for _, r := range list {
		a.MeanS, a.P95S, a.MakespanS = a.MeanS+r.MeanS/n, a.P95S+r.P95S/n, a.MakespanS+r.MakespanS/n
		a.CrossRackBytes += float64(r.CrossRackBytes) / n
		a.Copies, a.Kills = a.Copies+float64(r.Copies)/n, a.Kills+float64(r.Kills)/n
		total, wasted = total+r.TotalSlotS, wasted+r.WastedSlotS
		mean(&a.NodeLocal, r.NodeLocal)
		mean(&a.RackLocal, r.RackLocal)
		if r.EndedJobs.OK {
			mean(&a.EndedJobs, schema.Some(float64(r.EndedJobs.V)))
		}
	}
	if total > 0 {
		a.Wasted = schema.Some(wasted / total)
	}
	return a
}

// gain compares an arm with the first, seed by seed: the geometric mean of the ratios, with Student's interval of their
// logarithms.
func (a *Arm) gain(first, list []schema.SimulateRun) {
	var ratios []float64
	for _, r := range list {
		i := slices.IndexFunc(first, func(f schema.SimulateRun) bool { return f.Seed == r.Seed })
		if i >= 0 && r.MeanS > 0 && first[i].MeanS > 0 {
			ratios = append(ratios, math.Log(first[i].MeanS/r.MeanS))
		}
	}
	n := float64(len(ratios))
	if n == 0 {
		return
	}
	mean, square := 0.0, 0.0
	for _, x := range ratios {
		mean += x / n
	}
	a.Gain = schema.Some(math.Exp(mean))
	if n < 2 {
		return
	}
	for _, x := range ratios {
		square += (x - mean) * (x - mean)
	}
	half := stats.Student{DF: n - 1}.Quantile(0.975) * math.Sqrt(square/(n-1)/n)
	a.GainLow, a.GainHigh = schema.Some(math.Exp(mean-half)), schema.Some(math.Exp(mean+half))
}
