package policy

import (
	"math"

	"straggler/whatif/replay"
)

// MRv2 is the DefaultSpeculator of Hadoop MapReduce 2, as coded or as intended.
//
// Rules as coded: a scan looks at all kinds of tasks of a job and makes at most one copy of each; the next scan comes 15 s
// after one that made a copy, else after 1 s. At least 5 % of the tasks of the kind must be complete. value = estimatedEnd −
// (now + estimatedNew); a task is passed over when estimatedEnd < now, value ≤ 0 or two attempts of it run; the largest value
// is taken, as long as fewer than max(10, 0.01 · tasks, 0.1 · running tasks) copies run. Progress that has not changed for 9 s
// is taken to have stalled (the synthetic progress of a replay never stalls).
//
// Estimators: legacy (start + elapsed / max(1e-4, progress); a new attempt takes the mean of the completed ones),
// smooth (the rate of progress, exponentially smoothed with λ = 60 s), simple (λ = 120 s, the first 24 reports skipped,
// a new attempt takes the mean plus its 95 % confidence interval).
//
// Intended adds what the setting mapreduce.job.speculative.slowtaskthreshold says and the code does not do: a task must
// also be slower than the mean rate by that many standard deviations.
type MRv2 struct {
	Estimator   string  `option:"estimator" doc:"legacy, smooth or simple" words:"legacy,smooth,simple"`
	Intended    bool    `option:"intended" doc:"apply the slow task threshold, which has no effect as coded"`
	Slow        float64 `option:"slow_task_threshold" doc:"standard deviations under the mean rate (intended only)"`
	Complete    float64 `option:"complete" most:"1" doc:"share of the tasks that must be complete"`
	Again       float64 `option:"again" least:"1e-6" unit:"s" doc:"time to the next scan after one without a copy"`
	AfterCopy   float64 `option:"after_copy" least:"1e-6" unit:"s" doc:"time to the next scan after one that made a copy"`
	CapMin      int     `option:"cap_min" doc:"copies that may always run"`
	CapTotal    float64 `option:"cap_total" most:"1" doc:"copies that may run, as a share of all tasks"`
	CapRunning  float64 `option:"cap_running" most:"1" doc:"copies that may run, as a share of the running tasks"`
	ReportEvery float64 `option:"report" least:"1e-6" unit:"s" doc:"time between progress reports"`
}

var mrv2Defaults = MRv2{
	Estimator: "legacy", Slow: 1, Complete: 0.05, Again: 1, AfterCopy: 15, CapMin: 10, CapTotal: 0.01, CapRunning: 0.1, ReportEvery: 3,
}

type mrv2 struct{ MRv2 }

// mrv2Job is the clock of the job's scans.
type mrv2Job struct{ scan, next replay.Time }

// copyOf names an attempt of a phase.
type copyOf struct{ task, number int32 }

type mrv2Phase struct {
	counted     int
	took, rates moments
	smooth      map[copyOf]*smoothed
	marked      []bool // by task; nil where none is
}

// moments are the number, the sum and the sum of squares of a sample.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(x float64) { m.n, m.sum, m.squares = m.n+1, m.sum+x, m.squares+x*x }

func (m *moments) mean() float64     { return m.sum / m.n }
func (m *moments) variance() float64 { return max(m.squares/m.n-m.mean()*m.mean(), 0) }

func (m *mrv2) Look(v *replay.View, do *replay.Actions) replay.Again {
	p, ok := (*v.Memory()).(*mrv2Phase)
	if !ok {
		p = &mrv2Phase{}
		*v.Memory() = p
	}
	job, ok := (*v.JobMemory()).(*mrv2Job)
	if !ok {
		job = &mrv2Job{}
		*v.JobMemory() = job
	}
	m.count(v, p)
	if m.Estimator != "legacy" {
		m.report(v, p)
	}
	if job.next > v.Now() && job.scan != v.Now() {
		return m.wake(v, job.next)
	}
	if job.next <= v.Now() {
		job.scan, job.next = v.Now(), v.Now()+replay.Seconds(m.Again)
	}
	if len(v.Running()) == 0 || p.took.n < max(m.Complete*float64(v.Tasks()), 1) {
		return m.wake(v, job.next)
	}
	if task := m.best(v, p); task >= 0 {
		if p.marked == nil {
			p.marked = make([]bool, v.Tasks())
		}
		p.marked[task] = true
		do.QueueCopy(task)
		job.next = v.Now() + replay.Seconds(m.AfterCopy)
	}
	return m.wake(v, job.next)
}

// Abstains: at least one task of the kind must be complete.
func (m *mrv2) Abstains(float64) bool { return true }

func (m *mrv2) wake(v *replay.View, scan replay.Time) replay.Again {
	if m.Estimator == "legacy" {
		return replay.Again{At: scan}
	}
	return replay.Again{At: min(scan, v.Now()+replay.Seconds(m.ReportEvery))}
}

func (m *mrv2) count(v *replay.View, p *mrv2Phase) {
	for _, d := range v.Done()[p.counted:] {
		took := d.Took.Seconds()
		p.took.add(took)
		if took > 0 {
			p.rates.add(1 / took)
		}
	}
	p.counted = len(v.Done())
}

// best returns the task that gains most from a copy, or -1.
func (m *mrv2) best(v *replay.View, p *mrv2Phase) int32 {
	running := v.Running()
	copies := v.Queued()
	for i := range running {
		if running[i].Number > 0 {
			copies++
		}
	}
	limit := max(float64(m.CapMin), m.CapTotal*float64(v.Tasks()), m.CapRunning*float64(len(running)))
	if float64(copies) >= limit {
		return -1
	}
	fresh := m.estimatedNew(p)
	slowRate := m.slowRate(p)
	best, bestValue := int32(-1), 0.0
	for i := range running {
		a := &running[i]
		if v.Copies(a.Task) > 1 || p.marked != nil && p.marked[a.Task] {
			continue
		}
		elapsed, progress := v.Elapsed(a).Seconds(), v.Progress(a)
		if m.Intended && progress/max(elapsed, 1e-6) >= slowRate {
			continue
		}
		value := SpeculationValue(m.estimatedEnd(p, a, elapsed, progress), v.Now().Seconds(), fresh)
		if value > bestValue || value == bestValue && best >= 0 && a.Task < best {
			best, bestValue = a.Task, value
		}
	}
	return best
}

// SpeculationValue returns how much sooner a copy would end than the attempt, or 0 if it should not be made.
func SpeculationValue(estimatedEnd, now, estimatedNew float64) float64 {
	if estimatedEnd < now {
		return 0
	}
	return max(estimatedEnd-(now+estimatedNew), 0)
}

// LegacyRuntime returns the whole duration that the legacy estimator expects.
func LegacyRuntime(elapsed, progress float64) float64 { return elapsed / max(1e-4, progress) }

func (m *mrv2) estimatedEnd(p *mrv2Phase, a *replay.Running, elapsed, progress float64) float64 {
	whole := LegacyRuntime(elapsed, progress)
	if s := p.smooth[copyOf{a.Task, a.Number}]; s != nil && s.rate > 0 && (m.Estimator != "simple" || s.reports > 24) {
		whole = elapsed + (1-progress)/s.rate
	}
	return a.Start.Seconds() + whole
}

// estimatedNew returns the mean of the completed attempts; the simple estimator adds half its 95 % confidence interval.
func (m *mrv2) estimatedNew(p *mrv2Phase) float64 {
	if m.Estimator != "simple" || p.took.n < 2 {
		return p.took.mean()
	}
	return p.took.mean() + 1.96*math.Sqrt(p.took.variance()/p.took.n)
}

// slowRate returns the rate below which a task is slow by Intended.
func (m *mrv2) slowRate(p *mrv2Phase) float64 {
	return p.rates.mean() - m.Slow*math.Sqrt(p.rates.variance())
}

// smoothed is a rate of progress under exponential smoothing.
type smoothed struct {
	at       replay.Time
	progress float64
	rate     float64
	reports  int
}

// report updates the rate of progress of every running attempt that is due: new rate = e^{−Δt/λ} · old + (1 − e^{−Δt/λ}) · seen.
func (m *mrv2) report(v *replay.View, p *mrv2Phase) {
	lambda := 60.0
	if m.Estimator == "simple" {
		lambda = 120
	}
	running := v.Running()
	for i := range running {
		a := &running[i]
		key := copyOf{a.Task, a.Number}
		s := p.smooth[key]
		if s == nil {
			if p.smooth == nil {
				p.smooth = map[copyOf]*smoothed{}
			}
			p.smooth[key] = &smoothed{at: a.Start}
			continue
		}
		dt := (v.Now() - s.at).Seconds()
		if dt < m.ReportEvery {
			continue
		}
		s.add(dt, v.Progress(a), lambda)
		s.at = v.Now()
	}
}

func (s *smoothed) add(dt, progress, lambda float64) {
	seen := (progress - s.progress) / dt
	if s.reports == 0 {
		s.rate = seen
	} else {
		old := math.Exp(-dt / lambda)
		s.rate = old*s.rate + (1-old)*seen
	}
	s.progress = progress
	s.reports++
}
