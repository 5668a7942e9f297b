package policy

import (
	"math"
	"strconv"
	"strings"

	"straggler/whatif/replay"
)

// Spark is the speculation of Spark's TaskSetManager, as coded.
//
// Rules: every 100 ms, for each set of tasks that is not a barrier stage and, without a duration threshold, has more
// than one task: minFinished = max(⌊quantile · N⌋, 1). Once that many tasks have succeeded, T = max(multiplier · median of
// the successful durations, 100 ms); before that, when task.duration.threshold is set and N does not exceed the slots of
// one executor, T is that threshold. A task is copied when it runs, has one copy and was not marked before, has run
// longer than T, and (unless efficiency is off) has run longer than 2 T or reads fewer records a second than 0.75 × the
// average of the successful tasks; a task past task.duration.threshold is copied however fast it reads. The running task's
// records come with the executors' heartbeats, every 10 s: until the first it has none. Copies start after all regular
// tasks, never on a host where an attempt of the task ran, failed ones included; the first success wins.
//
// Defaults: 3.x quantile 0.75, multiplier 1.5; 4.x 0.9 and 3; efficiency from 3.4 on. NaN takes the value of the log's
// own spark.speculation.* settings, else the default of the log's own version.
type Spark struct {
	Quantile   float64 `option:"quantile" log:"the log's own setting" most:"1" doc:"share of the tasks that must have succeeded (spark.speculation.quantile)"`
	Multiplier float64 `option:"multiplier" log:"the log's own setting" doc:"times the median that a task must have run (spark.speculation.multiplier)"`
	MinRuntime float64 `option:"min_task_runtime" log:"the log's own setting" unit:"s" doc:"least time a task must have run (spark.speculation.minTaskRuntime)"`
	Threshold  float64 `option:"task_duration_threshold" log:"the log's own setting" unit:"s" doc:"time after which tasks of small stages are copied; 0: never (spark.speculation.task.duration.threshold)"`
	Interval   float64 `option:"interval" log:"the log's own setting" least:"1e-6" unit:"s" doc:"time between checks (spark.speculation.interval)"`
	Efficiency float64 `option:"efficiency" log:"the log's own setting" words:"0,1" doc:"1: spare tasks that read as fast as the others (spark.speculation.efficiency.enabled); 0: off"`
	Rate       float64 `option:"process_rate_multiplier" log:"the log's own setting" most:"1" doc:"share of the average rate below which a task is inefficient"`
	LongRun    float64 `option:"task_duration_factor" log:"the log's own setting" least:"1" doc:"times T after which a task is copied however fast it reads"`
}

var nan = math.NaN()

// sparkOwn follows the log; spark3 and spark4 are the defaults of the two lines of versions.
var (
	sparkOwn = Spark{Quantile: nan, Multiplier: nan, MinRuntime: nan, Threshold: nan, Interval: nan, Efficiency: nan, Rate: nan, LongRun: nan}
	spark3   = Spark{Quantile: 0.75, Multiplier: 1.5, MinRuntime: 0.1, Interval: 0.1, Efficiency: 1, Rate: 0.75, LongRun: 2}
	spark4   = Spark{Quantile: 0.9, Multiplier: 3, MinRuntime: 0.1, Interval: 0.1, Efficiency: 1, Rate: 0.75, LongRun: 2}
)

type spark struct {
	Spark
	known bool
	set   Spark
	found []int32
}

type sparkPhase struct {
	took    sample
	counted int
	records float64 // of successful tasks
	ran     float64
	ages    ages
	past    []aged // past the limit at the last check, and not marked
}

func (s *spark) Look(v *replay.View, do *replay.Actions) replay.Again {
	if !s.known {
		s.set, s.known = sparkSettings(v, s.Spark), true
	}
	p, ok := (*v.Memory()).(*sparkPhase)
	if !ok {
		p = &sparkPhase{}
		*v.Memory() = p
	}
	n := v.Tasks()
	small := s.set.Threshold > 0 && n <= v.ExecutorSlots()
	if v.Gang() || n == 1 && s.set.Threshold <= 0 {
		return replay.Again{}
	}
	done := v.Done()
	for _, d := range done[p.counted:] {
		p.took.add(d.Took.Seconds())
		if r := v.Records(d.Task); r > 0 {
			p.records += float64(r)
		}
		p.ran += d.Took.Seconds()
	}
	p.counted = len(done)
	var limit float64
	efficiency := s.set.Efficiency != 0
	switch {
	case len(done) >= SparkMinFinished(s.set.Quantile, n):
		limit = max(s.set.Multiplier*p.took.median(), s.set.MinRuntime)
	case small:
		limit, efficiency = s.set.Threshold, false
	default:
		return replay.Again{End: true}
	}
	return s.check(v, do, p, limit, efficiency)
}

// SparkMinFinished returns the number of n tasks that must have succeeded.
func SparkMinFinished(q float64, n int) int { return max(int(math.Floor(q*float64(n))), 1) }

// check marks every task that has run longer than the limit. Spark checks every interval; between checks nothing is
// marked, so the next look is at the first check at which something can be.
func (s *spark) check(v *replay.View, do *replay.Actions, p *sparkPhase, limit float64, efficiency bool) replay.Again {
	interval, over := replay.Seconds(s.set.Interval), replay.Seconds(limit)+1
	next := never
	p.ages.update(v)
	if v.CheckAt(v.Now(), interval) == v.Now() {
		next = s.mark(v, do, p, limit, efficiency)
	} else if len(p.past) > 0 {
		next = v.Now()
	}
	if a, ok := p.ages.first(v); ok {
		next = min(next, a.start+over)
	}
	if v.Waiting() > 0 { // tasks may be launched meanwhile: they cannot be past the limit sooner than this
		next = min(next, v.Now()+replay.Seconds(limit))
	}
	if next == never {
		return replay.Again{End: true}
	}
	return replay.Again{At: v.CheckAt(max(next, v.Now()+1), interval), End: true}
}

// mark marks the tasks past the limit except those that are spared, and returns when one of these may be marked.
func (s *spark) mark(v *replay.View, do *replay.Actions, p *sparkPhase, limit float64, efficiency bool) replay.Time {
	over := replay.Seconds(limit) + 1
	p.past = p.ages.until(v, v.Now()-over, p.past)
	next := never
	rest := p.past[:0]
	for _, x := range p.past {
		if v.Copies(x.task) == 0 {
			p.ages.release(x.task)
			continue
		}
		if v.Copies(x.task) == 1 {
			a := onlyAttempt(v, x.task)
			if a.Start+over > v.Now() { // another attempt, or the limit has grown
				next = min(next, a.Start+over)
			} else if spared, till := s.efficient(v, p, a, limit); spared && efficiency {
				next = min(next, till)
			} else {
				s.found = append(s.found, x.task)
				continue
			}
		}
		rest = append(rest, x)
	}
	p.past = rest
	inOrder(&s.found, do.QueueFresh)
	return next
}

// onlyAttempt returns the running attempt of a task that has one.
func onlyAttempt(v *replay.View, task int32) *replay.Running {
	for a := range v.Attempts(task) {
		return a
	}
	return nil
}

// heartbeat is how often an executor reports the metrics of running tasks, in seconds (the default of
// spark.executor.heartbeatInterval).
const heartbeat = 10.0

// efficient reports whether a task past the limit is spared because it reads as fast as the others did, and returns until when
// that cannot change: its next report, or the time after which its rate does not matter. It is spared if records/elapsed, with
// the records of its last report, is at least the multiplier times the records per second of the successful tasks
// (TaskSetManager 3.4, TaskProcessRateCalculator).
func (s *spark) efficient(v *replay.View, p *sparkPhase, a *replay.Running, limit float64) (bool, replay.Time) {
	if p.records <= 0 || p.ran <= 0 {
		return false, 0
	}
	elapsed := v.Elapsed(a).Seconds()
	if elapsed > s.set.LongRun*limit {
		return false, 0
	}
	// Executors report at different moments; the machine's number spreads them.
	offset := math.Mod(float64(a.Machine)*6.18, heartbeat)
	since := math.Mod(v.Now().Seconds()-offset+10*heartbeat, heartbeat)
	if since >= elapsed {
		return false, 0 // no report yet: it has read nothing
	}
	read := v.Progress(a) * (elapsed - since) / elapsed * float64(max(v.Records(a.Task), 0))
	report := v.Now() + replay.Seconds(heartbeat-since)
	return read/elapsed >= s.set.Rate*p.records/p.ran, min(report, a.Start+replay.Seconds(s.set.LongRun*limit)+1)
}

// sparkSettings fills in what is NaN from the log's settings and version.
func sparkSettings(v *replay.View, s Spark) Spark {
	d := spark3
	switch version := v.Version(); {
	case strings.HasPrefix(version, "4"):
		d = spark4
	case strings.HasPrefix(version, "3.0"), strings.HasPrefix(version, "3.1"), strings.HasPrefix(version, "3.2"),
		strings.HasPrefix(version, "3.3"), strings.HasPrefix(version, "2"), strings.HasPrefix(version, "1"):
		d.Efficiency = 0
	}
	fill := func(x *float64, name string, byDefault float64, parse func(string) (float64, bool)) {
		if !math.IsNaN(*x) {
			return
		}
		*x = byDefault
		if text, ok := v.Setting("spark.speculation." + name); ok {
			if value, ok := parse(text); ok {
				*x = value
			}
		}
	}
	fill(&s.Quantile, "quantile", d.Quantile, number)
	fill(&s.Multiplier, "multiplier", d.Multiplier, number)
	fill(&s.MinRuntime, "minTaskRuntime", d.MinRuntime, sparkSeconds)
	fill(&s.Threshold, "task.duration.threshold", 0, sparkSeconds)
	fill(&s.Interval, "interval", d.Interval, sparkSeconds)
	fill(&s.Efficiency, "efficiency.enabled", d.Efficiency, truth)
	fill(&s.Rate, "efficiency.processRateMultiplier", d.Rate, number)
	fill(&s.LongRun, "efficiency.longRunTaskFactor", d.LongRun, number)
	if !(s.Interval >= 1e-6) { // instants resolve microseconds
		s.Interval = d.Interval
	}
	return s
}

func number(s string) (float64, bool) {
	x, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return x, err == nil && !math.IsNaN(x)
}

func truth(s string) (float64, bool) {
	b, err := strconv.ParseBool(strings.TrimSpace(s))
	if b {
		return 1, err == nil
	}
	return 0, err == nil
}

// sparkSeconds reads Spark's times: a number of milliseconds, or with a unit (ms, s, min, m, h, d, us).
func sparkSeconds(s string) (float64, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	for _, u := range []struct {
		suffix string
		scale  float64
	}{{"ms", 1e-3}, {"us", 1e-6}, {"min", 60}, {"m", 60}, {"h", 3600}, {"d", 86400}, {"s", 1}} {
		if rest, ok := strings.CutSuffix(s, u.suffix); ok {
			x, ok := number(rest)
			return x * u.scale, ok
		}
	}
	x, ok := number(s)
	return x / 1e3, ok
}
