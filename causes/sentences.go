package causes

import (
	"math"
	"strconv"

	"straggler/causes/fit"
	"straggler/causes/machines"
	"straggler/schema"
	"straggler/stats"
)

// columns maps terms to columns of attempts, with units.
var columns = [terms]struct{ name, unit string }{
	ofBytes: {"input_bytes", "bytes"}, ofRecords: {"input_records", "records"}, ofWritten: {"output_bytes + shuffle_write_bytes", "bytes"},
	ofCPU: {"cpu_s", "s"}, ofRemote: {"remote_bytes", "bytes"}, ofSpill: {"spill_bytes", "bytes"}, ofAway: {"locality", "1 = not where its data was"},
	ofFirst: {"start_time", "1 = among the first on its machine"}, ofWait: {"fetch_wait_s", "s"}, ofGC: {"gc_s", "s"},
	ofDelay: {"scheduler_delay_s", "s"}, ofConvert: {"deserialize_s + result_s", "s"}, ofLink: {"scheduler_delay_s", "s"},
	ofWaitForMore: {"fetch_wait_s", "s"}, ofMachine: {"machine", "factor"}, ofResidual: {"residual", "factor"},
	ofShortWait: {"fetch_wait_s", "s"}, ofShortDelay: {"scheduler_delay_s", "s"}, ofShortConvert: {"deserialize_s + result_s", "s"},
	ofPause: {"fetch_wait_s", "s"}, ofLateLaunch: {"scheduler_delay_s", "s"},
	ofFirstConvert: {"deserialize_s + result_s", "s"},
	ofRedo:         {"recompute", "s"}, ofGap: {"losses", "s"}, ofCold: {"executor", "factor"},
}

// evidence writes the evidence for a line of a split as JSON. The attempt must belong to the prepared phase.
func (a *Attributor) evidence(b []byte, s *split, l *line) []byte {
	c := columns[l.top]
	e := Evidence{Predictor: c.name, Unit: c.unit, N: a.phase.Regression.N}
	if sd := l.sd(); sd > 0 {
		e.Low, e.High = l.seconds-1.96*sd, l.seconds+1.96*sd
	}
	w := &a.sentence
	*w = (*w)[:0]
	switch k := l.top; {
	case s.startOrWork && l.cause == schema.UnexplainedCause && k != ofResidual:
		a.startOrWorkSentence(w, &e, s)
	case k == ofFirst || k == ofAway:
		a.indicatorSentence(w, &e, s, k)
	case k <= ofFirst:
		a.workSentence(w, &e, s, k)
	case k == ofMachine:
		a.machineSentence(w, &e, s)
	case k == ofResidual:
		a.residualSentence(w, &e, s)
	case k == ofRedo:
		a.recomputeSentence(w, &e, s)
	case k == ofGap:
		e.Value, e.N = s.seconds[ofGap], 0
		w.say("ran while outputs that it reads were lost and not yet recomputed, for ").seconds(s.seconds[ofGap])
	case k == ofCold:
		a.startSentence(w, &e, s)
	default:
		a.partSentence(w, &e, s, k)
	}
	*w = append(*w, a.located...)
	if l.seconds < 0 {
		w.say("; this made it ").seconds(-l.seconds).say(" faster than the median task")
	}
	a.query = a.query[:0]
	query(&a.query, s.task, l.top)
	return finish(e.begin(b), []byte(*w), []byte(a.query))
}

func (a *Attributor) coefficient(e *Evidence, s *split, k term) {
	f := &a.phase.Regression
	e.Coefficient, e.StdErr = f.Coef[k], f.SE[k]
	e.Value, e.Median = a.phase.X[k][s.index], f.Mid[k]
}

func (a *Attributor) indicatorSentence(w *words, e *Evidence, s *split, k term) {
	a.coefficient(e, s, k)
	if k == ofAway {
		w.say("did not run where its data was; such tasks took ")
	} else {
		w.say("was among the first tasks of its phase on its machine; these took ")
	}
	w.seconds(e.Coefficient).say(" ± ").seconds(e.StdErr).say(" longer")
	if k == ofFirst {
		w.say(", to load classes, open connections and fill caches for later tasks")
	}
}

func (a *Attributor) workSentence(w *words, e *Evidence, s *split, k term) {
	a.coefficient(e, s, k)
	if k == ofRemote {
		w.say("read ").amount(e.Value-e.Median, e.Unit).say(" more from other machines than usual for its input; in this phase that takes ")
		w.rate(e.Coefficient, e.StdErr, e.Unit)
		return
	}
	if k == ofCPU {
		w.say("used ").seconds(e.Value).say(" of processor time, adjusted for its machine, where the median task used ").seconds(e.Median)
		w.say("; the log has no bytes to measure the work by")
		return
	}
	verb := "read "
	switch k {
	case ofWritten:
		verb = "wrote "
	case ofSpill:
		verb = "spilled "
	}
	w.say(verb).amount(e.Value, e.Unit).say(" where the median task ").say(verb).amount(e.Median, e.Unit)
	if e.Median > 0 && e.Value > 0 {
		w.say(", ").fixed(e.Value/e.Median, 1).say(" times")
	}
	w.say("; in this phase that takes ").rate(e.Coefficient, e.StdErr, e.Unit)
}

// startOrWorkSentence explains why the start of an executor and the work of a task cannot be distinguished.
func (a *Attributor) startOrWorkSentence(w *words, e *Evidence, s *split) {
	t := &s.together
	c := columns[ofBytes+term(t.Work)]
	e.Predictor, e.Unit = c.name, c.unit
	e.Value, e.Median = a.phase.X[t.Work][s.index], a.phase.Regression.Mid[t.Work]
	e.Reason = "the effects of its work and of its start cannot be separated"
	w.say("its work and the start of its process cannot be separated as causes: ")
	switch t.Work {
	case fit.ByCPU:
		w.say("it used ").seconds(e.Value).say(" of processor time where the median task used ").seconds(e.Median)
	case fit.ByWritten:
		w.say("it wrote ").amount(e.Value, e.Unit).say(" where the median task wrote ").amount(e.Median, e.Unit)
	default:
		w.say("it read ").amount(e.Value, e.Unit).say(" where the median task read ").amount(e.Median, e.Unit)
	}
	w.say(", ").fixed(e.Value/e.Median, 1).say(" times, and ")
	if a.phase.Cold(int32(s.index)) {
		w.say("ran soon after its executor had started")
	} else {
		w.say("was among the first tasks on its machine")
	}
	if t.Together > 1 {
		w.say("; the ").others(int64(t.Together - 1)).say(" that started like this and the later tasks")
	} else {
		w.say("; no other started like this, and the later tasks")
	}
	w.say(" differ too little in their work to tell how long that takes")
}

func (a *Attributor) machineSentence(w *words, e *Evidence, s *split) {
	m, sd := s.machine.Mean, math.Sqrt(s.machine.Variance)
	f := math.Exp(m)
	e.Coefficient, e.StdErr = f, f*sd
	e.Value, e.Median = f, math.Exp(a.phase.Usual)
	observed := a.model.Machines.Of(s.task.Machine)
	e.N = int(observed.Attempts)
	w.say("its machine takes ").fixed(f, 2).say(" times the predicted time (95 % interval ").fixed(math.Exp(m-1.96*sd), 2)
	w.say(" to ").fixed(math.Exp(m+1.96*sd), 2).say(")")
	switch {
	case s.machine.Hypothesis == machines.SlowInPhase && s.machine.N > 0:
		e.Scope = "phase"
		w.say(" in this phase, judging by the ").others(int64(s.machine.N)).say(" on it")
	case s.machine.Hypothesis >= machines.SlowForAWhile:
		e.Scope = "time"
		w.say(" at that time, judging by the ").others(int64(s.machine.N)).say(" that ran on it then")
	}
	a.processorClause(w, s)
	w.say("; the store has ").count(observed.Attempts, "attempt").say(" on it in ").count(observed.Phases, "phase")
	if n, slower, ok := a.model.Machines.Slower(s.task.Machine); ok {
		w.say("; it belongs to a generation of ").int(int64(n)).say(" machines that take ").fixed(slower, 2).say(" times as long as the fastest")
	}
}

func (a *Attributor) startSentence(w *words, e *Evidence, s *split) {
	e.Value, e.Median = math.Exp(s.machine.Start+s.residual), 1
	e.Coefficient, e.StdErr = math.Exp(s.machine.Start), math.Exp(s.machine.Start)*math.Sqrt(s.machine.StartVariance)
	w.say("ran soon after its executor had started, and took ").fixed(e.Value, 2)
	w.say(" times as long as its work predicts; ")
	if e.N = s.machine.StartN; e.N > 0 {
		w.say("judging by the ").others(int64(e.N)).say(" there, ")
	}
	w.say("the start makes tasks take ").fixed(e.Coefficient, 2).say(" times as long")
}

func (a *Attributor) partSentence(w *words, e *Evidence, s *split, k term) {
	part, before, after := fit.FetchWait, "waited ", " for blocks from other machines"
	switch k {
	case ofGC:
		part, before, after = fit.GC, "its process collected garbage for ", ""
	case ofDelay:
		part, before, after = fit.SchedulerDelay, "was delayed ", " between launch and run, and after its end"
	case ofConvert:
		part, before, after = fit.Conversion, "spent ", " deserializing itself and serializing its result"
	case ofLink:
		part, before, after = fit.SchedulerDelay, "was delayed ", " by messages that queued behind blocks on its machine's link"
	case ofWaitForMore:
		after = " for blocks, as expected for its larger input"
	case ofPause:
		after = " for blocks from other machines while the process that serves them collected garbage"
	case ofLateLaunch:
		part, before, after = fit.SchedulerDelay, "was launched while its process collected garbage, and delayed ", ""
	case ofFirstConvert:
		part, before, after = fit.Conversion, "was among the first tasks of its phase on its machine and spent ", " loading its code, as all of these did"
	case ofShortDelay:
		part, before, after = fit.SchedulerDelay, "was delayed ", " between launch and run, and after its end, as when one process handles a message late"
	case ofShortConvert:
		part, before, after = fit.Conversion, "spent ", " deserializing itself and serializing its result, as when its process is suspended once"
	case ofShortWait:
		after = " for few bytes from other machines, too few to take that long on any link; the log does not say whether they were sent or received late"
	}
	e.Value, e.Median = a.phase.Part[part][s.index], a.mid[part]
	w.say(before).seconds(e.Value).say(after).say("; ").say(duringMedian[part]).seconds(e.Median)
	if k == ofLink && s.lateCode {
		w.say("; its code came over that link too and took ").seconds(a.phase.Part[fit.Conversion][s.index]).say("; that of the median first task took ").seconds(stats.Median(a.firstConverts))
	}
	if n, others, ok := a.neighbours(s.index, part); ok && (k == ofWait || k == ofGC) {
		during, verb := "", " waited "
		if k == ofGC {
			during, verb = "during ", " for "
		}
		w.say("; ").say(during).say("the other ").int(int64(n)).say(" tasks on its machine").say(verb).seconds(others).say(" in the median")
	}
}

// duringMedian continues the sentence about a measured part of a task with that of the median task.
var duringMedian = [fit.Parts]string{
	fit.FetchWait: "the median task waited ", fit.GC: "during the median task for ",
	fit.SchedulerDelay: "the median task was delayed ", fit.Conversion: "the median task spent ",
}

// neighbours returns the median of a measured part over the other successful tasks on the machine, at least two.
func (a *Attributor) neighbours(i, part int) (n int, others float64, ok bool) {
	b := a.phase
	k := b.Machines.Of[i]
	if k < 0 {
		return 0, 0, false
	}
	a.tmp = partsOn(a.tmp, &b.Fitter, part, k, int32(i), examined)
	return len(a.tmp), stats.Median(a.tmp), len(a.tmp) >= 2
}

func (a *Attributor) residualSentence(w *words, e *Evidence, s *split) {
	sigma, tasks := a.phase.Regression.Sigma, "tasks of the phase"
	if v := a.phase.Variance(int32(s.index)); v > sigma*sigma {
		sigma, tasks = math.Sqrt(v), "the first tasks of the phase"
	}
	e.Coefficient, e.Value, e.Median = sigma, math.Exp(s.residual), 1
	e.Reason = s.unidentifiable
	if s.unidentifiable != "" {
		w.say("its cause cannot be identified: ").say(s.unidentifiable).say("; it ")
	}
	w.say("took ").fixed(e.Value, 2).say(" times as long as its work and its machine predict, where ").say(tasks).say(" vary by ")
	w.fixed(100*sigma, 0).say(" %")
	if s.unidentifiable == "" {
		w.say("; nothing in the log explains it")
	}
	a.processorClause(w, s)
}

// processorClause interprets the task's processor time: if it is as usual, the task waited for something that is not logged, or
// for the processor; if it grew with the duration, the task computed more than its input explains.
func (a *Attributor) processorClause(w *words, s *split) {
	b := a.phase
	usual := b.Regression.Mid[fit.ByCPU]
	cpu := s.task.CPU
	if b.Regression.Status[fit.ByCPU] == fit.Used || !(usual > 0) || !(cpu > 0) {
		return
	}
	took := math.Log(b.Body[s.index] / b.Predicted(s.index))
	switch more := math.Log(cpu / usual); {
	case took < math.Log(1.5): // the body was not slow
	case more < took/3:
		w.say("; its processor time was as usual, ").seconds(cpu).say(" where the median task used ").seconds(usual)
		w.say(": it did not compute more, but waited for something or for the processor")
	case more > 2*took/3:
		w.say("; it computed more accordingly: ").seconds(cpu).say(" of processor time, where the median task used ").seconds(usual)
	}
}

// bodySQL computes the body: the duration without the measured parts (fit/parts.go).
const bodySQL = "duration_s - coalesce(fetch_wait_s, 0) - coalesce(gc_s, 0) - coalesce(scheduler_delay_s, 0) - coalesce(deserialize_s, 0) - coalesce(result_s, 0)"

// query writes SQL with which a user can see the cause in the tables.
func query(w *words, t *fit.Task, k term) {
	switch k {
	case ofMachine:
		w.say("SELECT phase_id, machine, count(*) AS attempts, percentile_cont(0.5) WITHIN GROUP (ORDER BY " + bodySQL +
			") AS body_s FROM attempts WHERE job_id IN (SELECT job_id FROM attempts WHERE attempt_id = ")
		w.int(t.Attempt).say(") AND status = 'success' GROUP BY phase_id, machine ORDER BY phase_id NULLS LAST, body_s DESC NULLS LAST")
		return
	case ofRedo:
		w.say("SELECT a.task, a.machine, a.start_time, a.finish_time, l.machine AS lost_on, l.time AS lost_at, d.task AS missed_by, d.machine AS missed_on FROM attempts a LEFT JOIN losses l ON l.recomputed_by = a.attempt_id LEFT JOIN attempts d ON d.attempt_id = l.detected_by WHERE a.attempt_id = ").int(t.Attempt)
		return
	case ofGap:
		w.say("SELECT l.task, l.machine AS lost_on, l.time AS lost_at, r.finish_time AS restored_at, l.detected_by FROM losses l JOIN edges e ON e.from_phase = l.phase_id LEFT JOIN attempts r ON r.attempt_id = l.recomputed_by WHERE e.to_phase = ").int(t.Phase).say(" ORDER BY l.time NULLS LAST")
		return
	}
	column := columns[k].name
	switch k {
	case ofResidual:
		column = bodySQL + " AS body_s, input_bytes"
	case ofRemote: // only bytes beyond the usual share of the input count
		column = "input_bytes, remote_bytes"
	}
	w.say("SELECT task, number, machine, duration_s, ").say(column).say(" FROM attempts WHERE phase_id = ").int(t.Phase)
	w.say(" AND status = 'success' ORDER BY duration_s DESC NULLS LAST")
}

// words builds a text. A store has millions of sentences, and fmt would take longer than all regressions together.
type words []byte

func (w *words) say(s string) *words { *w = append(*w, s...); return w }

func (w *words) int(n int64) *words { *w = strconv.AppendInt(*w, n, 10); return w }

// count writes a number with its noun.
func (w *words) count(n int64, thing string) *words {
	if w.int(n).say(" ").say(thing); n == 1 {
		return w
	}
	return w.say("s")
}

// others writes "other one" or a number of others.
func (w *words) others(n int64) *words {
	if n == 1 {
		return w.say("other one")
	}
	return w.int(n).say(" others")
}

// digits writes x with n significant digits.
func (w *words) digits(x float64, n int) *words {
	*w = strconv.AppendFloat(*w, x, 'g', n, 64)
	return w
}

// fixed writes x with n decimals.
func (w *words) fixed(x float64, n int) *words {
	*w = strconv.AppendFloat(*w, x, 'f', n, 64)
	return w
}

// seconds writes a duration as prose.Seconds does, with an ordinary space.
func (w *words) seconds(s float64) *words {
	if s < 0 {
		w.say("−")
	}
	switch a := math.Abs(s); {
	case a == 0:
		return w.say("0 s")
	case a < 0.0005:
		return w.say("< 1 ms")
	case a < 0.9995:
		return w.fixed(a*1000, 0).say(" ms")
	case a < 599.5:
		return w.three(a).say(" s")
	case a < 2*3600:
		return w.three(a / 60).say(" min")
	case a < 48*3600:
		return w.three(a / 3600).say(" h")
	default:
		return w.three(a / 86400).say(" d")
	}
}

// three writes x ≥ 0.01 with three significant digits, or with all digits before the point.
func (w *words) three(x float64) *words {
	switch {
	case x < 9.995:
		return w.fixed(x, 2)
	case x < 99.95:
		return w.fixed(x, 1)
	}
	return w.fixed(x, 0)
}

// amount writes a number of bytes or records; bytes as prose.Bytes does, with an ordinary space.
func (w *words) amount(x float64, unit string) *words {
	base, prefixes := 1000.0, [...]string{"", "k", "M", "G", "T"}
	if unit == "bytes" {
		base, prefixes = 1024, [...]string{"", "Ki", "Mi", "Gi", "Ti"}
	}
	i := 0
	for math.Abs(x) >= base-0.5 && i < len(prefixes)-1 {
		x /= base
		i++
	}
	switch {
	case unit == "bytes" && i > 0:
		w.three(x)
	case unit == "bytes":
		w.fixed(x, 0)
	default:
		w.digits(x, 3)
	}
	w.say(" ").say(prefixes[i])
	if unit == "bytes" {
		return w.say("B")
	}
	if i > 0 {
		w.say(" ")
	}
	return w.say(unit)
}

// rate writes a coefficient ± its error, in seconds per mebibyte or per million records.
func (w *words) rate(coef, se float64, unit string) {
	per, of := 1e6, "million "+unit
	if unit == "bytes" {
		per, of = 1<<20, "MiB"
	}
	w.digits(coef*per, 3).say(" ± ").digits(se*per, 1).say(" s per ").say(of)
}
