package workload

import (
	"math"
	"slices"
)

// model says how long each task should take for its data, how fast the tasks of its phase were once data and machine
// are taken out, and how slow each machine was.
//
// The duration of task i is taken to be work_i × ratio_i × factor(machine): work_i is what its data predicts, in seconds;
// ratio_i is its own luck, which is what a copy draws anew (from the others of its phase). This is 'work × rate' of
// MANTRI §5.5 (t_new = processRate · locationFactor · d + schedLag) with a constant part: tasks take some time whatever
// their data, and a rate per byte would call a short last split slow.
func (d *draft) model() {
	dur := make([]float64, len(d.Tasks)) // seconds of the attempt that won, NaN where none did
	machine := make([]int32, len(d.Tasks))
	won := make([]int32, len(d.Tasks))
	for t := range dur {
		dur[t] = math.NaN()
	}
	near := make([]Nearness, len(d.Tasks))
	began := make([]int64, len(d.Tasks))
	for a := range d.Attempts {
		at := &d.Attempts[a]
		t := at.Task
		row := d.attemptRow[a]
		d.Tasks[t].Bytes, d.Tasks[t].Records = max(d.Tasks[t].Bytes, row.Bytes), max(d.Tasks[t].Records, row.Records)
		if at.Ok && at.Dur > 0 {
			dur[t], machine[t], near[t], began[t], won[t] = float64(at.Dur)/1e6, d.machineOf(a), row.Local, d.start[a], int32(a)
			d.Tasks[t].Bytes, d.Tasks[t].Records = row.Bytes, row.Records
		}
	}
	for i := range d.Phases {
		p := &d.Phases[i]
		r := span{int(p.FirstTask), int(p.FirstTask + p.Tasks)}
		d.phaseWork(r, dur)
		d.phaseLag(p, i)
	}
	if !d.health() {
		d.machineFactors(dur, machine)
	}
	for i := range d.Phases {
		d.phaseRatios(&d.Phases[i], dur, machine, began, near)
	}
	d.whoseRatios(won)
}

type span struct{ from, to int }

func (d *draft) machineOf(a int) int32 {
	if s := int(d.Attempts[a].Slot); s < len(d.Slots) {
		return d.Slots[s].Machine
	}
	return d.Tasks[d.Attempts[a].Task].Machine
}

// phaseLag is the median lag of the phase's launches: what a copy of it waits between getting a slot and starting.
func (d *draft) phaseLag(p *Phase, i int) {
	lags := make([]float64, 0, p.Launches)
	for a := p.First; a < p.First+p.Launches; a++ {
		lags = append(lags, float64(d.Attempts[a].Lag))
	}
	if m := median(lags); m > 0 {
		p.CopyLag = int64(m)
	}
}

// health takes the factors that the analysis of causes found, which looked at windows of time; false where it did not run.
func (d *draft) health() bool {
	if len(d.rows.Health) == 0 {
		return false
	}
	byName := make(map[string]int, len(d.Machines))
	for m := range d.Machines {
		byName[d.Machines[m].Name] = m
	}
	for i := range d.rows.Health {
		h := &d.rows.Health[i]
		m, ok := byName[h.Machine]
		if !ok || !h.Factor.OK || !(h.Factor.V > 0) {
			continue
		}
		from, till := d.at(int64(h.WindowStart)), d.at(int64(h.WindowEnd))
		d.Machines[m].Windows = append(d.Machines[m].Windows, Window{from, till, float32(h.Factor.V)})
		d.notes.HealthWindows++
	}
	return true
}

// machineFactors estimates each machine's time relative to the others: the median of dur / (work · median ratio of the
// phase) over its tasks, shrunk to 1 by how uncertain that median is, with (1 − (2·se/est)²)₊: below two standard errors
// nothing is left. Phases of fewer than four tasks say nothing.
func (d *draft) machineFactors(dur []float64, on []int32) {
	byMachine := make([][]float64, len(d.Machines))
	var all []float64
	for i := range d.Phases {
		p := &d.Phases[i]
		logs := make([]float64, 0, p.Tasks)
		for t := p.FirstTask; t < p.FirstTask+p.Tasks; t++ {
			if w := float64(d.Tasks[t].Work); dur[t] > 0 && w > 0 {
				logs = append(logs, math.Log(dur[t]/w))
			}
		}
		if len(logs) < 4 {
			continue
		}
		mid := median(logs)
		for t := p.FirstTask; t < p.FirstTask+p.Tasks; t++ {
			if w := float64(d.Tasks[t].Work); dur[t] > 0 && w > 0 {
				l := math.Log(dur[t]/w) - mid
				byMachine[on[t]] = append(byMachine[on[t]], l)
				all = append(all, math.Abs(l))
			}
		}
	}
	spread := max(1.4826*median(all), 0.02)
	for m, logs := range byMachine {
		if len(logs) < 5 || d.Machines[m].Name == "" {
			continue
		}
		est := median(logs)
		se := 1.2533 * spread / math.Sqrt(float64(len(logs)))
		if shrink := 1 - math.Pow(2*se/est, 2); shrink > 0 {
			d.Machines[m].Factor = float32(math.Exp(est * shrink))
			d.notes.MachinesSlow++
		}
	}
}

// phaseRatios keeps the clean ratios of the tasks of a phase, for copies to draw from, and how much slower those were
// that ran away from their data.
func (d *draft) phaseRatios(p *Phase, dur []float64, on []int32, began []int64, near []Nearness) {
	p.FirstRatio = int32(len(d.Ratios))
	var at, away []float64
	for t := p.FirstTask; t < p.FirstTask+p.Tasks; t++ {
		w := float64(d.Tasks[t].Work)
		if !(dur[t] > 0) || w <= 0 {
			continue
		}
		r := dur[t] / (w * float64(d.Machines[on[t]].At(began[t])))
		d.Tasks[t].Ratio = int32(len(d.Ratios)) - p.FirstRatio
		d.Ratios = append(d.Ratios, float32(r))
		switch near[t] {
		case Near:
			at = append(at, r)
		case Far:
			away = append(away, r)
		}
	}
	p.Ratios = int32(len(d.Ratios)) - p.FirstRatio
	p.Far = farFactor(at, away)
	if p.Ratios < 2 {
		d.notes.LonelyPhases++
	}
}

// whoseRatios keeps the attempt that each ratio is of: a copy that draws the ratio makes progress as that attempt did.
func (d *draft) whoseRatios(won []int32) {
	if len(d.Points) == 0 {
		return
	}
	d.RatioOf = make([]int32, len(d.Ratios))
	for t := range d.Tasks {
		if k := d.Tasks[t].Ratio; k >= 0 {
			d.RatioOf[d.Phases[d.Tasks[t].Phase].FirstRatio+k] = won[t]
		}
	}
}

// farFactor is how much longer tasks take away from their data, at least 1: the ratio of the medians, shrunk as machine
// factors are. With fewer than five tasks of either kind it is 1.
func farFactor(at, away []float64) float32 {
	if len(at) < 5 || len(away) < 5 {
		return 1
	}
	for _, v := range [][]float64{at, away} {
		for n := range v {
			v[n] = math.Log(v[n])
		}
	}
	a, b := median(at), median(away)
	var dev []float64
	for n := range at {
		dev = append(dev, math.Abs(at[n]-a))
	}
	for n := range away {
		dev = append(dev, math.Abs(away[n]-b))
	}
	spread := max(1.4826*median(dev), 0.02)
	se := 1.2533 * spread * math.Sqrt(1/float64(len(at))+1/float64(len(away)))
	if shrink := 1 - math.Pow(2*se/(b-a), 2); b > a && shrink > 0 {
		return float32(math.Exp((b - a) * shrink))
	}
	return 1
}

func known(v []float64) []float64 {
	out := make([]float64, 0, len(v))
	for _, x := range v {
		if !math.IsNaN(x) {
			out = append(out, x)
		}
	}
	return out
}

// median sorts v; NaN where it is empty.
func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	if n := len(v); n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[len(v)/2]
}
