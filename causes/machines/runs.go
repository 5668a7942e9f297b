package machines

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"straggler/schema"
	"straggler/stats"
)

// RunPart describes the tasks of one phase of a run on one machine, with the usual values of the stage; figures are medians per
// task.
type RunPart struct {
	Application schema.Key           `col:"application_id"`
	Phase       schema.Key           `col:"phase_id"`
	Machine     string               `col:"machine"`
	Tasks       int64                `col:"tasks"`
	Slow        int64                `col:"slow"` // of these, slower than usual
	MedianS     float64              `col:"median_s"`
	CPUS        schema.Null[float64] `col:"cpu_s"`
	WaitS       schema.Null[float64] `col:"wait_s"`
	InputBytes  schema.Null[float64] `col:"input_bytes"`
	Records     schema.Null[float64] `col:"input_records"`
	Start       schema.Time          `col:"first_start"`
	Finish      schema.Time          `col:"last_finish"`
	TickS       float64              `col:"tick_s"`

	UsualS       float64              `col:"usual_s"`
	Within       float64              `col:"within_run"` // standard deviation of ln(duration) between tasks
	UsualCPUS    schema.Null[float64] `col:"usual_cpu_s"`
	UsualWaitS   schema.Null[float64] `col:"usual_wait_s"`
	UsualBytes   schema.Null[float64] `col:"usual_input_bytes"`
	UsualRecords schema.Null[float64] `col:"usual_input_records"`
}

const (
	// worthNamingInRun is the least factor of a machine that is called slow in one run, of which few attempts are known: in
	// normal runs of the workflows used for testing (FlowBench) no machine exceeds 1.25.
	worthNamingInRun = 1.3
	leastAttempts    = 2   // of a machine that is judged, since a single attempt may be slow by itself
	waits            = 1.5 // a machine waits if its wait for input exceeds the usual by this factor
)

// runMachine is one machine in a run.
type runMachine struct {
	name      string
	node      string
	sums      SufficientStats
	parts     []runPart
	slow      int64 // attempts in slow parts
	late      int64 // attempts that are slower than usual
	from, to  schema.Time
	wait, cpu ratio
	z, sd, q  float64 // ln(factor) over the base, its standard deviation
	named     bool
	withNode  bool // as slow as a machine of its node that is named because it waits
	notes     []string
}

// runPart is ln(factor) of one part, with its number of attempts.
type runPart struct {
	z float64
	n int64
}

// half returns the median ln(factor) over the attempts of the machine.
func (m *runMachine) half() float64 {
	slices.SortFunc(m.parts, func(a, b runPart) int { return cmp.Compare(a.z, b.z) })
	sum := int64(0)
	for _, p := range m.parts {
		if sum += p.n; 2*sum >= m.sums.Attempts {
			return p.z
		}
	}
	return 0
}

// ratio is a mean of logarithms.
type ratio struct{ sum, n float64 }

func (r *ratio) add(is, usual schema.Null[float64], floor, work float64, tasks int64) {
	if is.OK && usual.OK {
		r.sum += float64(tasks) * math.Log((max(0, is.V)+floor)/(max(0, usual.V)*work+floor))
		r.n += float64(tasks)
	}
}

func (r ratio) log() float64 { return r.sum / max(1, r.n) }

func (r ratio) value() (v schema.Null[float64]) {
	if r.n > 0 {
		v = schema.Some(math.Exp(r.log()))
	}
	return v
}

// RunJudgement has the slowness that the machines of one run share, and the machines that are slow.
type RunJudgement struct {
	Rows     []schema.MachineHealth
	Shared   map[schema.Key]float64 // by phase: ln of the slowdown of its tasks common to most machines
	Machines map[string]float64     // ln of the slowdown of a slow machine beyond that
	Nodes    map[string]string      // node that a machine is as slow as, without being named itself
}

// JudgeRun judges the machines of one run by its parts, sorted by machine, against the history of their stages; losses counts
// the outputs lost on each. falseShare is the false discovery rate among the machines called slow, outlier the probability that
// an attempt is slow by itself.
//
// The observation of a part is ln(median / (usual × work)), whose variance includes the median of its tasks, the variation of
// machines from phase to phase, and the resolution of the clock. The lower quartile over the machines of a phase, and of the
// run, is due to no machine and is subtracted. A machine is slow by one of two tests, of which the smaller p is doubled
// (Benjamini and Hochberg 1995 over the machines of the run): of the mean, and of the number of its attempts in slow parts,
// which also finds machines that are slow in only part of their work. The median over its attempts decides whether it is worth
// naming.
func JudgeRun(parts []RunPart, losses map[string]int64, falseShare, outlier float64) RunJudgement {
	ms := runMachines(parts)
	base := quarter(ms, func(m *runMachine) float64 { z, _, _ := m.sums.Spread(); return z })
	waiting := quarter(ms, func(m *runMachine) float64 { return m.wait.log() })
	p := make([]float64, len(ms))
	for i := range ms {
		m := &ms[i]
		z, v, _ := m.sums.Spread()
		m.z, m.sd = z-base, math.Sqrt(v)
		mean := stats.NormalSurvival((m.z - math.Log(tolerance)) / m.sd)
		p[i] = min(1, 2*min(mean, stats.BinomialSurvival(m.slow, m.sums.Attempts, 0.01+min(0.2, 1.5*outlier))))
		if m.sums.Attempts < leastAttempts || len(ms) == 1 {
			p[i] = 1
		}
	}
	controlRun(ms, p)
	for i := range ms {
		m := &ms[i]
		m.named = m.q <= falseShare && m.half()-base >= math.Log(worthNamingInRun) && m.slow >= leastAttempts
	}
	shareNodes(ms, waiting)
	j := RunJudgement{Rows: make([]schema.MachineHealth, len(ms)), Shared: sharedBy(parts, base), Machines: map[string]float64{}, Nodes: map[string]string{}}
	for i := range ms {
		m := &ms[i]
		j.Rows[i] = m.row(parts[0].Application, base, losses[m.name], len(ms))
		if more := m.half() - base; m.named || m.withNode {
			j.Machines[m.name] = more
		}
		if m.withNode {
			j.Nodes[m.name] = m.node
		}
	}
	return j
}

// sharedBy returns the slowdown of each phase common to most machines: the lower quartile of four or more machines, the least of
// two or three, or, on one machine, that of its median task if there are at least three.
func sharedBy(parts []RunPart, base float64) map[schema.Key]float64 {
	by := map[schema.Key][]*RunPart{}
	for i := range parts {
		by[parts[i].Phase] = append(by[parts[i].Phase], &parts[i])
	}
	shared := make(map[schema.Key]float64, len(by))
	for phase, ps := range by {
		slices.SortStableFunc(ps, func(a, b *RunPart) int { return cmp.Compare(a.slowness(), b.slowness()) })
		switch n := len(ps); {
		case n >= 4:
			shared[phase] = max(0, ps[(n-1)/4].slowness()) + base
		case n >= 2 || ps[0].Tasks >= 3:
			shared[phase] = max(0, ps[0].slowness(), base)
		default:
			shared[phase] = base
		}
	}
	return shared
}

// runMachines sums up the parts by machine.
func runMachines(parts []RunPart) []runMachine {
	bases := phaseBases(parts)
	var ms []runMachine
	for i := range parts {
		q := &parts[i]
		if len(ms) == 0 || ms[len(ms)-1].name != q.Machine {
			ms = append(ms, runMachine{name: q.Machine, node: schema.Node(q.Machine), from: q.Start, to: q.Finish})
		}
		m := &ms[len(ms)-1]
		n, clock := float64(q.Tasks), q.TickS/q.UsualS
		z := q.slowness() - bases[q.Phase]
		// The variance of a median is π/2 times that of a mean; that of a difference of two clock readings, together with the
		// usual one's, is a third of the squared resolution.
		m.sums.Add(z, math.Pi/2*q.Within*q.Within/max(n, math.Pi/2)+clock*clock/3, int(q.Tasks))
		m.parts = append(m.parts, runPart{z, q.Tasks})
		if z > math.Log(worthNamingInRun) && q.MedianS-q.UsualS*q.work() > 2*q.TickS {
			m.slow += q.Tasks
		}
		m.late += q.Slow
		m.from, m.to = min(m.from, q.Start), max(m.to, q.Finish)
		m.wait.add(q.WaitS, q.UsualWaitS, 1, q.work(), q.Tasks) // clocks do not resolve waits below a second
		m.cpu.add(q.CPUS, q.UsualCPUS, 0.01, q.work(), q.Tasks)
	}
	return ms
}

// phaseBases returns the lower quartile of the slowdown in each phase that ran on at least four machines.
func phaseBases(parts []RunPart) map[schema.Key]float64 {
	by := map[schema.Key][]float64{}
	for i := range parts {
		by[parts[i].Phase] = append(by[parts[i].Phase], parts[i].slowness())
	}
	bases := make(map[schema.Key]float64, len(by))
	for phase, v := range by {
		if len(v) >= 4 {
			slices.Sort(v)
			bases[phase] = max(0, v[(len(v)-1)/4])
		}
	}
	return bases
}

// slowness returns ln(time / usual time for its work).
func (q *RunPart) slowness() float64 { return math.Log(q.MedianS / (q.UsualS * q.work())) }

// work returns the input of its tasks relative to the usual, at least 1.
func (q *RunPart) work() float64 {
	switch {
	case q.InputBytes.OK && q.UsualBytes.V > 0:
		return max(1, q.InputBytes.V/q.UsualBytes.V)
	case q.Records.OK && q.UsualRecords.V > 0:
		return max(1, q.Records.V/q.UsualRecords.V)
	}
	return 1
}

// quarter returns the lower quartile of a figure over the machines, at least 0.
func quarter(ms []runMachine, of func(*runMachine) float64) float64 {
	v := make([]float64, len(ms))
	for i := range ms {
		v[i] = of(&ms[i])
	}
	slices.Sort(v)
	return max(0, v[(len(v)-1)/4])
}

// controlRun computes for each machine the least false discovery rate at which it is called slow.
func controlRun(ms []runMachine, p []float64) {
	order := make([]int, len(ms))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	q := 1.0
	for rank := len(order); rank > 0; rank-- {
		i := order[rank-1]
		q = min(q, p[i]*float64(len(order))/float64(rank))
		ms[i].q = q
	}
}

// shareNodes compares the containers of one physical machine. If some of them wait for their input and others are as slow
// without waiting, the disk or link of the former slows the latter, and only the former are named.
func shareNodes(ms []runMachine, waiting float64) {
	byNode := map[string][]*runMachine{}
	for i := range ms {
		if m := &ms[i]; m.named && m.node != "" {
			byNode[m.node] = append(byNode[m.node], m)
		}
	}
	for i := range ms {
		m := &ms[i]
		named := byNode[m.node]
		if !m.named || len(named) < 2 {
			continue
		}
		worst := slices.MaxFunc(named, func(a, b *runMachine) int { return cmp.Compare(a.wait.log(), b.wait.log()) })
		if least := waiting + math.Log(waits); worst.wait.log() > least && m.wait.log() <= least {
			m.named, m.withNode = false, true
			m.notes = append(m.notes,
				fmt.Sprintf("as slow as %s on the same node %s, which waits for its input: they share what it waits for", worst.name, m.node))
		} else {
			m.notes = append(m.notes, fmt.Sprintf("%d machines of node %s are slow in this run", len(named), m.node))
		}
	}
}

func (m *runMachine) row(application schema.Key, base float64, losses int64, machines int) schema.MachineHealth {
	mean, v, _ := machinePrior.Posterior(m.z, m.sd*m.sd)
	sd := math.Sqrt(v)
	r := schema.MachineHealth{ApplicationID: schema.Some(application), Machine: m.name, WindowStart: m.from, WindowEnd: m.to,
		Attempts: m.sums.Attempts, Phases: m.sums.Phases, Losses: losses, Verdict: schema.Healthy, Generation: schema.Some(math.Exp(base)),
		Factor: schema.Some(math.Exp(mean)), FactorLow: schema.Some(math.Exp(mean - 1.96*sd)), FactorHigh: schema.Some(math.Exp(mean + 1.96*sd)),
		OutlierRate: schema.Some(float64(m.late) / float64(m.sums.Attempts)), QValue: schema.Some(m.q), WaitRatio: m.wait.value(), CPURatio: m.cpu.value()}
	if m.node != "" {
		r.Node = schema.Some(m.node)
	}
	notes := m.notes
	switch {
	case m.named:
		r.Verdict = schema.Slow
	case machines == 1:
		r.Verdict, notes = schema.UnknownVerdict, append(notes, "the only machine of the run")
	case m.sums.Attempts < leastAttempts:
		r.Verdict, notes = schema.UnknownVerdict, append(notes, "a single attempt to judge it by")
	case len(notes) > 0: // slow with its node
		r.Verdict = schema.UnknownVerdict
	}
	if losses > 0 {
		notes = append(notes, fmt.Sprintf("%d outputs were lost on it", losses))
	}
	if len(notes) > 0 {
		r.Note = schema.Some(strings.Join(notes, "; "))
	}
	return r
}
