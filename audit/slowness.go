package audit

import (
	"cmp"
	"math"
	"slices"

	"straggler/audit/measure"
	"straggler/schema"
	"straggler/sharing"
	"straggler/stats"
)

// Slowness describes how much longer tonight's tasks took than those of the same stages in the history, where, and what they
// spent the time on.
type Slowness struct {
	Factor *float64 `json:"factor"` // of all tasks: time over what is usual, 1 = as usual
	Shared bool     `json:"shared"` // nearly all machines are slow: what they share is
	// processor, disk, network or shared; empty if nothing is slow, or if the log does not show it
	Kind     string        `json:"kind,omitempty"`
	Waited   *float64      `json:"waited_share"` // of the time more than usual, waiting for input
	Machines []SlowMachine `json:"machines"`     // slowest first; the first mostListed

	Tasks     int64 `json:"tasks"`      // of stages with a history, as far as the log says what they have in common
	SlowTasks int64 `json:"slow_tasks"` // of these, slower than usual
	// what the slow tasks have in common and others do not, the best explanation first
	InCommon []sharing.Feature `json:"in_common"`

	took  float64
	racks []SlowMachine
}

// Words describes what the slow tasks have in common; empty if the tasks took hardly longer than usual.
func (s *Slowness) Words() []string {
	if s == nil || s.Factor == nil || *s.Factor < Worth && len(s.racks) == 0 {
		return nil
	}
	return sharing.Words(s.InCommon, s.Tasks, s.SlowTasks, s.took)
}

// Worth is the least factor of all tasks worth mentioning.
const Worth = 1.1

// SlowMachine compares one machine with the history of the stages whose tasks it ran.
type SlowMachine struct {
	Machine string   `json:"machine"`
	Node    string   `json:"node,omitempty"` // physical machine, where the machine is a container or slot of one
	Rack    string   `json:"rack,omitempty"`
	Tasks   int64    `json:"tasks"`
	Factor  *float64 `json:"factor"` // time of its tasks over what is usual for their stages
	// probability of so many slow tasks, given the history and the slowdown common to the other machines
	P *float64 `json:"p_value"`

	factor, excess float64
	// the factor, times that of the wait for input if that grew: machines that share a disk with a bad one are as slow, but
	// wait less
	rank      float64
	p, beyond float64 // by rank among the tasks of the history, and with a tail beyond the slowest of them
	asUsual   float64 // p, were the tasks of all machines as usual
	parts     []part
	asRack    string // of a rack: that all of its machines are
}

// mostListed bounds the machines of the output.
const mostListed = 20

// part compares the tasks of one stage on one machine with the history of the stage. Times are medians per task.
type part struct {
	stage          int // of the run
	tasks          float64
	usual, ratio   float64 // usual time; tonight's over it
	extra          float64 // time more than usual
	staging, waits float64 // of it, waiting for input; how many times as long as usual that was, 1 where the log does not say
	cpu, cpuUsual  float64 // processor time more than usual, and usual; NaN: unknown
	bytes          float64 // read and written by a task; 0: unknown
}

// slowness compares the parts of tonight's run with the history.
func slowness(r *measure.Run, history []*measure.Run, matches *measure.Matches) (*Slowness, []SlowMachine) {
	const least = 2 // nights that make a history
	byMachine, usuals := map[string]*SlowMachine{}, map[int]*usual{}
	common := newCommon()
	total, usually := 0.0, 0.0
	for i := range r.Stages {
		s := &r.Stages[i]
		var past []*measure.Stage
		for _, h := range history {
			if t := matches.Stage(h, s); t != nil {
				past = append(past, t)
			}
		}
		if len(past) < least || len(s.Parts) == 0 {
			continue
		}
		u := usualOf(past, s)
		if !(u.time > 0) {
			continue
		}
		usuals[i] = &u
		common.add(s, u.slow())
		for _, q := range s.Parts {
			m := byMachine[q.Machine]
			if m == nil {
				m = &SlowMachine{Machine: q.Machine, Node: schema.Node(q.Machine), Rack: q.Rack}
				byMachine[q.Machine] = m
			}
			p := u.part(q)
			p.stage = i
			m.Tasks += q.Tasks
			m.excess += p.tasks * p.extra
			m.parts = append(m.parts, p)
			total, usually = total+p.tasks*p.usual*p.ratio, usually+p.tasks*p.usual
		}
	}
	if usually == 0 {
		return nil, nil
	}
	var machines []SlowMachine
	for _, name := range sortedKeys(byMachine) {
		m := byMachine[name]
		m.sum()
		machines = append(machines, *m)
	}
	others := base(machines)
	for i := range machines {
		machines[i].judge(others, usuals)
	}
	slices.SortStableFunc(machines, func(a, b SlowMachine) int { return cmp.Compare(b.rank, a.rank) })
	out := &Slowness{Factor: number(total / usually), Machines: machines[:min(len(machines), mostListed)]}
	out.Shared = others > slowPart && len(machines) >= leastShared
	common.describe(out, machines, usuals)
	slow := slowOnes(machines)
	out.Kind, out.took = kindOf(slow, out.Shared, len(out.racks) > 0), r.Values["time_s"]
	if extra, waited, _ := spent(slow); extra > 0 {
		out.Waited = number(waited / extra)
	}
	return out, machines
}

// slowPart is the least ratio to the usual time that counts as slow: in the logs used for testing, with a clock of whole
// seconds, 99 % of the parts of normal nights are below it.
const slowPart = 1.2

// leastShared is the number of machines from which a common slowdown is attributed to what they share instead of to one of
// them.
const leastShared = 3

// sum sums up the parts of a machine.
func (m *SlowMachine) sum() {
	sum, weight, waits, tasks := 0.0, 0.0, 0.0, 0.0
	for _, p := range m.parts {
		sum += p.tasks * p.usual * math.Log(p.ratio)
		weight += p.tasks * p.usual
		waits += p.tasks * math.Log(p.waits)
		tasks += p.tasks
	}
	m.factor = math.Exp(sum / weight)
	m.rank = m.factor * math.Exp(max(0, waits/tasks))
	m.Factor = number(m.factor)
}

// judge tests whether the machine is slow given the slowdown common to all machines, which is due to none of them. The p-values
// of the parts are combined by Fisher's method.
func (m *SlowMachine) judge(others float64, usuals map[int]*usual) {
	fisher, further, usually := 0.0, 0.0, 0.0
	for _, p := range m.parts {
		u := usuals[p.stage]
		rank, beyond := u.chance(p.ratio*u.work/others, int64(p.tasks))
		fisher -= 2 * math.Log(rank)
		further -= 2 * math.Log(beyond)
		rank, _ = u.chance(p.ratio*u.work, int64(p.tasks))
		usually -= 2 * math.Log(rank)
	}
	n := len(m.parts)
	m.p, m.beyond = stats.ChiSquaredSurvival(fisher, n), stats.ChiSquaredSurvival(further, n)
	m.asUsual = stats.ChiSquaredSurvival(usually, n)
	m.P = number(m.p)
}

// sharedChance returns the p-value of the hypothesis that the tasks of all machines are as usual: Simes' (1986) for several tests
// of one hypothesis.
func sharedChance(machines []SlowMachine) float64 {
	var p []float64
	for i := range machines {
		p = append(p, machines[i].asUsual)
	}
	slices.Sort(p)
	least := 1.0
	for i, x := range p {
		least = min(least, x*float64(len(p))/float64(i+1))
	}
	return least
}

// base returns the lower quartile of the factors of machines, at least 1: if it is large, something that they share is slow (a
// data source, the network, the time of day), and a machine is slow only relative to it. It is a quartile because samples are
// small: of four machines one is as fast as usual by chance, and two slow ones may be a rack.
func base(machines []SlowMachine) float64 {
	if len(machines) == 0 {
		return 1
	}
	v := make([]float64, len(machines))
	for i := range machines {
		v[i] = machines[i].factor
	}
	slices.Sort(v)
	return max(1, v[len(v)/4])
}

// slowOnes returns the machines that are slower than the others, or all machines if none is.
func slowOnes(machines []SlowMachine) []SlowMachine {
	var out []SlowMachine
	for i := range machines {
		if machines[i].factor > slowPart*base(machines) {
			out = append(out, machines[i])
		}
	}
	if len(out) == 0 {
		return machines
	}
	return out
}

// usual holds the history of a stage.
type usual struct {
	time, cpu, wait float64 // medians over the nights of the medians of tasks; NaN: unknown
	bytes           float64
	work            float64 // of a task tonight over what is usual, at least 1
	longest         float64 // that 99 of 100 tasks stay below: median over the nights
	past            []*measure.Stage
}

func usualOf(past []*measure.Stage, tonight *measure.Stage) usual {
	of := func(value func(measure.Values) (float64, bool)) float64 {
		var v []float64
		for _, s := range past {
			if x, ok := value(s.Values); ok {
				v = append(v, x)
			}
		}
		return stats.Median(v)
	}
	named := func(name string) func(measure.Values) (float64, bool) {
		return func(v measure.Values) (float64, bool) { x, ok := v[name]; return x, ok }
	}
	perTask := func(v measure.Values) (float64, bool) {
		return v["input_bytes"] / v["tasks"], v["input_bytes"] > 0 && v["tasks"] > 0
	}
	u := usual{time: of(named("median_s")), cpu: of(named("cpu_s")), wait: of(named("wait_s")), bytes: of(named("moved_bytes")), work: 1, past: past}
	var longest []float64
	for _, s := range past {
		if len(s.Sketch) == len(sketched) {
			longest = append(longest, s.Sketch[p99])
		}
	}
	u.longest = stats.Median(longest)
	if w, ok := perTask(tonight.Values); ok {
		if was := of(perTask); was > 0 {
			u.work = max(1, w/was)
		}
	}
	return u
}

func (u *usual) part(q measure.Part) part {
	expected := u.time * u.work
	p := part{waits: 1, tasks: float64(q.Tasks), usual: expected, ratio: max(q.MedianS, 1e-3*expected) / expected, extra: q.MedianS - expected,
		cpu: math.NaN(), cpuUsual: u.cpu, bytes: u.bytes}
	if q.Wait.OK && !math.IsNaN(u.wait) {
		p.staging, p.waits = q.Wait.V-u.wait, (max(q.Wait.V, 0)+1)/(u.wait*u.work+1) // of a second or less, clocks say little
	}
	if q.CPUSeconds.OK {
		p.cpu = q.CPUSeconds.V - u.cpu
	}
	return p
}

// chance returns the probability that half of n tasks take at least a multiple of the usual time, estimated from the share of
// such tasks in the history, at least 1/(N + 1), so that a single slow task does not make its machine slow. beyond extends that
// by a tail beyond the slowest task of the history.
func (u *usual) chance(ratio float64, n int64) (rank, beyond float64) {
	slower, tasks, most := 0.0, 0.0, 1.1
	for _, s := range u.past {
		slower += s.Values["tasks"] * above(s.Sketch, ratio*u.time)
		tasks += s.Values["tasks"]
		most = max(most, s.Values["max_s"]/u.time)
	}
	p := min(1, (slower+1)/(tasks+1))
	rank = stats.BinomialSurvival((n+1)/2, n, p)
	if ratio > most {
		p = math.Pow(math.Log(most)/math.Log(ratio), tailIndex) / (tasks + 1)
	}
	return rank, stats.BinomialSurvival((n+1)/2, n, p)
}

// sketched are the quantiles of a sketch.
var sketched = [...]float64{0, 0.25, 0.5, 0.75, 0.9, p99: 0.99, 6: 1}

const p99 = 5

// above returns the share of a sketch's tasks that took at least x: its quantiles joined by straight lines.
func above(sketch []float64, x float64) float64 {
	at := sketched
	if len(sketch) != len(at) || x <= sketch[0] {
		return 1
	}
	for i := 1; i < len(at); i++ {
		if x <= sketch[i] {
			f := 1.0
			if sketch[i] > sketch[i-1] {
				f = (x - sketch[i-1]) / (sketch[i] - sketch[i-1])
			}
			return 1 - at[i-1] - f*(at[i]-at[i-1])
		}
	}
	return 0
}

// kindOf determines what the slow parts of machines spent the time on.
//
// Additional waiting for input is attributed to the disk or the network. The rest is proportional to the processor time of the
// stages if cores are busy, and to the bytes that they read and write if a disk is slow. Stages differ by orders of magnitude
// in the ratio of the two, so a few of them are enough: the logarithms of the rest over either are compared as two normal
// samples around an unknown mean. Its prior is that a busy processor doubles processor time, within a factor of e, and that a
// slow disk moves 20 MB/s, within a factor of 4.5.
//
// If all machines of a rack wait for their input, and those of other racks do not, the cause is the rack's link.
func kindOf(machines []SlowMachine, shared, rack bool) string {
	var processor, disk sample
	var stages []resourceRatios
	extra, staged, cpu := spent(machines)
	for i := range machines {
		for _, p := range machines[i].parts {
			if !p.slow() {
				continue
			}
			rest := max(p.extra-p.staging, 0.01*p.extra)
			if p.cpuUsual > 0 && p.bytes > 0 {
				perCPU, perByte := math.Log(rest/p.cpuUsual), math.Log(rest/(p.bytes/20e6))
				processor.add(perCPU)
				disk.add(perByte)
				for len(stages) <= p.stage {
					stages = append(stages, resourceRatios{})
				}
				stages[p.stage].processor.add(perCPU)
				stages[p.stage].disk.add(perByte)
			}
		}
	}
	const clear = 0.05 // of the extra time, a share of waiting that clocks and chance do not give
	switch {
	case extra == 0:
		return ""
	case staged > clear*extra:
		if shared && staged > 0.5*extra {
			return "shared"
		}
		if rack && staged > 0.5*extra {
			return "network"
		}
		return "disk"
	case cpu > 0.5*extra:
		return "processor"
	case processor.n == 0 && shared:
		return "shared"
	case processor.n == 0:
		return ""
	}
	// beyond three standard deviations of its prior neither explains the time
	const processorPrior, diskPrior, far = 1, 1.5, 3
	name, m, most := "disk", disk.sum/disk.n, far*diskPrior
	if processor.evidence(processorPrior) >= disk.evidence(diskPrior) {
		name, m, most = "processor", processor.sum/processor.n, far*processorPrior
	}
	if m > most {
		return steadiest(stages)
	}
	return name
}

// spent returns how much longer the slow parts of machines took, and how much of that was waiting for input and processor time.
func spent(machines []SlowMachine) (extra, staged, cpu float64) {
	for i := range machines {
		for _, p := range machines[i].parts {
			if !p.slow() {
				continue
			}
			extra += p.tasks * p.extra
			staged += p.tasks * max(0, p.staging)
			if p.cpu > 0 {
				cpu += p.tasks * min(p.cpu, p.extra)
			}
		}
	}
	return extra, staged, cpu
}

func (p *part) slow() bool { return p.ratio >= slowPart && p.extra > 0 }

// resourceRatios returns, by machine, the logarithms of the rest of one stage's time over its processor time and over its
// bytes.
type resourceRatios struct{ processor, disk sample }

// steadiest decides which of the two the time is proportional to if it is too long for both, for instance because a quota stops
// a processor most of the time: the one whose ratio varies less between stages. Machines that ran the same stage are not
// independent, so their means are used.
func steadiest(stages []resourceRatios) string {
	var processor, disk []float64
	for i := range stages {
		if s := &stages[i]; s.processor.n > 0 {
			processor, disk = append(processor, s.processor.sum/s.processor.n), append(disk, s.disk.sum/s.disk.n)
		}
	}
	return [...]string{"", "processor", "disk"}[stats.Steadier(processor, disk)]
}

// sample is how many values, their sum and that of their squares.
type sample struct{ n, sum, squares float64 }

func (s *sample) add(x float64) {
	s.n++
	s.sum += x
	s.squares += x * x
}

// evidence returns the logarithm of the marginal likelihood, up to a constant, of values around a mean with a normal prior of the
// given standard deviation at 0; the values scatter by a factor of e. Parts of one stage on many machines are not independent,
// so together they count as at most ten.
func (s *sample) evidence(prior float64) float64 {
	n := min(s.n, 10)
	m := s.sum / s.n
	variance := max(0, s.squares/s.n-m*m)
	between := 1/n + prior*prior
	return -0.5 * (n*variance + m*m/between + math.Log(between))
}
