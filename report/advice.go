package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"straggler/schema"
)

// A gain is worth someone's while from this part of all job time, or of the time of the one job that it is about; under
// it, the advice is to do nothing.
const (
	worth    = 0.01
	worthJob = 0.05
)

// rule turns what is known into advice, or into nothing.
type rule struct {
	name  string
	doc   string
	apply func(k *known) []Advice
}

// rules is the table of advice. Their advice is sorted by gain afterwards.
var rules = [...]rule{
	{"drain_machine", "a machine that takes longer than the others for the same work", adviseDrain},
	{"split_partition", "tasks with more data than the others: copies would be as slow", adviseSkew},
	{"fix_network", "tasks that waited for data from other machines", adviseNetwork},
	{"keep_outputs", "outputs that were lost and made again", adviseRecompute},
	{"give_memory", "garbage collection", adviseGC},
	{"avoid_spill", "data that did not fit in memory", adviseSpill},
	{"relieve_driver", "delays between launch and run", adviseScheduler},
	{"slim_tasks", "unpacking code and variables", adviseDeserialize},
	{"wait_for_locality", "tasks that ran away from their data", adviseLocality},
	{"speculate", "tasks that were slow there and then, which a copy elsewhere would beat", adviseSpeculation},
	{"cannot_tell", "lost time that no cause explains", adviseUnexplained},
}

// known is what rules look at.
type known struct {
	d *Document
	f *facts
}

// advise applies all rules: what brings most comes first, then what cannot be told, and an honest nothing when no
// advice is worth following.
func advise(d *Document, f *facts) []Advice {
	k := &known{d, f}
	if c := d.Trust.Counts; c.Attempts == 0 && c.Listed > 0 && c.Applications == 0 {
		return []Advice{{Rule: "cannot_tell", Kind: CannotTell, Title: "Cannot tell: only a list of machines was read",
			Action: "Read the log of the jobs that ran on them too, into the same store or the same report."}}
	}
	if d.Trust.Counts.Attempts == 0 {
		return []Advice{{Rule: "cannot_tell", Kind: CannotTell, Title: "Cannot tell: no attempts were read",
			Action: "Look at the rejects and caveats above, and name the format with --from if it was not recognised."}}
	}
	var acts, others []Advice
	small := 0.0
	for _, r := range rules {
		for _, a := range r.apply(k) {
			a.Rule = r.name
			switch {
			case a.Kind != Act:
				others = append(others, a)
			case a.GainLow.OK && a.GainLow.V <= 0: // it may well bring nothing
				small += a.GainS.V
			case a.GainS.OK && !a.jobWorth && a.GainS.V < worth*d.Cost.Loss.CompletionS.V:
				small += a.GainS.V
			default:
				acts = append(acts, a)
			}
		}
	}
	slices.SortStableFunc(acts, func(a, b Advice) int { return -cmp.Compare(a.GainS.V, b.GainS.V) })
	if len(acts) == 0 {
		acts = append(acts, k.nothing(small, others))
		if acts[0].Kind == CannotTell {
			return others
		}
	}
	return append(acts, others...)
}

// nothing says that nothing is worth doing, unless that cannot be told.
func (k *known) nothing(small float64, others []Advice) Advice {
	l := k.d.Cost.Loss
	switch {
	case len(others) > 0:
		return Advice{Kind: CannotTell}
	case !l.LostS.OK && l.Outliers > 0:
		return Advice{Rule: "nothing", Kind: Nothing, Title: "Cannot tell what slow tasks cost", Confidence: Low, Reason: "the log does not say when tasks started",
			Action: fmt.Sprintf("%s ran longer than the rules allow, by %s in all. Whether a job waited for them the log does not say.", upper(plural(l.Outliers, "attempt", "attempts")), seconds(l.ExcessS))}
	case !l.LostS.OK:
		return Advice{Rule: "nothing", Kind: Nothing, Title: "Nothing to advise: no phase has enough tasks to compare", Action: "A phase needs three tasks that ended well before one can be called slow."}
	}
	a := Advice{Rule: "nothing", Kind: Nothing, Title: "Nothing worth doing about stragglers", Confidence: High,
		Action: fmt.Sprintf("Stragglers cost %s of %s of job time (%s).", seconds(l.LostS.V), null(l.CompletionS, seconds), null(l.LostShare, percent))}
	if small > 0 {
		a.Action += fmt.Sprintf(" All remedies together would bring at most %s.", seconds(small))
	}
	if k.d.Trust.Counts.Incomplete > 0 {
		a.Confidence, a.Reason = Low, "the log is not complete"
	}
	return a
}

// lost is the job time that a cause cost.
func (k *known) lost(c schema.Cause) float64 {
	for _, x := range k.d.Cost.Causes {
		if x.Cause == c {
			return x.LostS.V
		}
	}
	return 0
}

// gain fills in what removing a cause should bring: the replay where there is one, else the time lost to it.
func (k *known) gain(a Advice, c schema.Cause) Advice {
	a.Kind = Act
	a.GainS, a.GainBasis = schema.Some(k.lost(c)), "job time lost to it; the most that removing all of it brings"
	for _, x := range k.d.Cost.Causes {
		if x.Cause == c && x.CostS.OK && x.CostLow.OK && x.CostHigh.OK {
			a.GainS, a.GainLow, a.GainHigh, a.GainBasis = x.CostS, x.CostLow, x.CostHigh, "jobs replayed without any of it, the most that can be won"
		}
	}
	if a.Confidence == "" {
		a.Confidence, a.Reason = k.sure(c)
	}
	return a
}

// sure is how sure the verdicts for a cause are on average.
func (k *known) sure(c schema.Cause) (Confidence, string) {
	f := k.f.causes[c]
	if f == nil {
		return Low, "it is no task's main cause"
	}
	if f.rated == 0 {
		return Low, "no verdict says how sure it is"
	}
	mean := f.confidence / float64(f.rated)
	reason := fmt.Sprintf("%s, %s sure on average", plural(f.n, "verdict", "verdicts"), percent(mean))
	switch {
	case mean >= 0.9:
		return High, reason
	case mean >= 0.7:
		return Medium, reason
	}
	return Low, reason
}

// spark says that all listed applications are Spark's, so that its settings may be spoken of.
func (k *known) spark() bool {
	for _, a := range k.d.Trust.Applications.Rows {
		if a.Framework != "spark" {
			return false
		}
	}
	return len(k.d.Trust.Applications.Rows) > 0
}

// sparkSQL says that some application used Spark SQL.
func (k *known) sparkSQL() bool {
	for n := range k.f.settings {
		if strings.HasPrefix(n, "spark.sql.") {
			return k.spark()
		}
	}
	return false
}

// set is a setting with what the log says of it.
func (k *known) set(name, value string) Setting {
	return Setting{Name: name, Value: value, Current: k.f.settings[name]}
}

// is says that a setting has a value; def is what holds where the log does not say.
func (k *known) is(name, value, def string) bool {
	return strings.EqualFold(k.f.settings[name].Or(def), value)
}

// worstOf lists the outliers of a cause, as ranked.
func (k *known) worstOf(c schema.Cause) []*Outlier {
	var out []*Outlier
	for i := range k.d.Outliers.Rows {
		if k.d.Outliers.Rows[i].Cause == c {
			out = append(out, &k.d.Outliers.Rows[i])
		}
	}
	return out
}

func causeSQL(c schema.Cause) string {
	return fmt.Sprintf("SELECT a.machine, a.phase_id, a.task, a.native_id, a.duration_s, c.seconds, c.confidence, c.evidence\nFROM attributions c JOIN attempts a ON a.attempt_id = c.attempt_id\nWHERE c.cause = '%s' AND c.rank = 1 ORDER BY c.seconds DESC NULLS LAST", c)
}

func adviseNetwork(k *known) []Advice {
	tasks := k.worstOf(schema.Network)
	if len(tasks) == 0 && k.lost(schema.Network) == 0 {
		return nil
	}
	a := Advice{Title: "Find the slow link", SQL: causeSQL(schema.Network),
		Action: "Tasks waited for blocks from other machines. The log does not say which machine was slow to send: compare the send rates and errors of the hosts while these phases ran, and look for one much below the rest; else spread the reads over time or racks."}
	if f := k.f.causes[schema.Network]; f != nil && f.machine != "" && f.n >= 3 && f.machines > 1 && f.most >= 0.5*f.seconds {
		a.Title = "Check the network link of " + name(f.machine)
		a.Action = fmt.Sprintf("Most of the waiting for blocks was done on %s: look at its link, errors and neighbours, and at its incoming rate while these phases ran.", name(f.machine))
	}
	if len(tasks) > 0 {
		a.Evidence = tasks[0].Words
	}
	return []Advice{k.gain(a, schema.Network)}
}

func adviseRecompute(k *known) []Advice {
	if k.lost(schema.Recompute) == 0 {
		return nil
	}
	a := Advice{Title: "Keep outputs that later phases need", SQL: "SELECT machine, count(*) AS losses, min(time) AS first, max(time) AS last FROM losses\nGROUP BY machine ORDER BY losses DESC NULLS LAST",
		Action: "Outputs were lost with the process or the machine that held them, and were made again while others waited. Let them outlive the process that wrote them."}
	if n := len(k.f.losses); n > 0 {
		l := k.f.losses[0]
		a.Evidence = fmt.Sprintf("%s lost", plural(l.Losses, "output", "outputs"))
		if l.Machine != "" {
			a.Title += fmt.Sprintf(", and look at %s", name(l.Machine))
			a.Evidence += " on " + name(l.Machine)
		}
		if n > 1 {
			a.Evidence += fmt.Sprintf(", and on %s", plural(int64(n-1), "other machine", "other machines"))
		}
		a.Evidence += "."
	}
	if k.spark() {
		a.Action += " On YARN or standalone, run the external shuffle service; where executors are taken away with warning, let them hand over their blocks."
		a.Settings = []Setting{k.set("spark.shuffle.service.enabled", "true"), k.set("spark.decommission.enabled", "true"),
			k.set("spark.storage.decommission.enabled", "true"), k.set("spark.storage.decommission.shuffleBlocks.enabled", "true")}
		if k.is("spark.shuffle.service.enabled", "true", "false") {
			a.Settings = a.Settings[1:]
		}
	}
	return []Advice{k.gain(a, schema.Recompute)}
}

func adviseGC(k *known) []Advice {
	if k.lost(schema.GC) == 0 {
		return nil
	}
	a := Advice{Title: "Give executors more memory, or fewer tasks at once", SQL: causeSQL(schema.GC),
		Action: "Processes collected garbage while tasks waited. Half as much memory again, or fewer tasks in each process, makes collections rarer."}
	if k.spark() {
		if m, ok := scaleSize(k.f.settings["spark.executor.memory"].Or("1g"), 1.5); ok {
			a.Settings = append(a.Settings, k.set("spark.executor.memory", m))
		}
	}
	if t := k.worstOf(schema.GC); len(t) > 0 {
		a.Evidence = t[0].Words
	}
	return []Advice{k.gain(a, schema.GC)}
}

// scaleSize multiplies a size of Spark's settings, such as 4g or 512m.
func scaleSize(s string, by float64) (string, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	digits := strings.TrimRight(s, "bkmgt")
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || n <= 0 {
		return "", false
	}
	switch strings.TrimSuffix(s[len(digits):], "b") {
	case "g":
		return fmt.Sprintf("%dm", int64(float64(n)*1024*by)), true
	case "m", "":
		return fmt.Sprintf("%dm", int64(float64(n)*by)), true
	}
	return "", false
}

func adviseSpill(k *known) []Advice {
	if k.lost(schema.Spill) == 0 {
		return nil
	}
	a := Advice{Title: "Make partitions small enough for memory", SQL: causeSQL(schema.Spill),
		Action: "Tasks wrote to disk what did not fit in memory and read it again. More, smaller partitions avoid that, and so does more memory."}
	if k.spark() {
		if n, err := strconv.Atoi(k.f.settings["spark.sql.shuffle.partitions"].Or("200")); err == nil && n > 0 && n < 1e6 {
			a.Settings = append(a.Settings, k.set("spark.sql.shuffle.partitions", strconv.Itoa(2*n)))
		}
	}
	if t := k.worstOf(schema.Spill); len(t) > 0 {
		a.Evidence = t[0].Words
	}
	return []Advice{k.gain(a, schema.Spill)}
}

func adviseScheduler(k *known) []Advice {
	if k.lost(schema.Scheduler) == 0 {
		return nil
	}
	a := Advice{Title: "Relieve the driver", SQL: causeSQL(schema.Scheduler),
		Action: "Tasks waited between launch and run, or for their results to be taken. Look at the driver’s load and collections at that time; fewer and longer tasks, and smaller results, ask less of it."}
	if t := k.worstOf(schema.Scheduler); len(t) > 0 {
		a.Evidence = t[0].Words
	}
	return []Advice{k.gain(a, schema.Scheduler)}
}

func adviseDeserialize(k *known) []Advice {
	if k.lost(schema.Deserialize) == 0 {
		return nil
	}
	a := Advice{Title: "Make tasks lighter to start", SQL: causeSQL(schema.Deserialize),
		Action: "Tasks spent their time unpacking code and variables. Broadcast large variables instead of capturing them, and keep executors alive between jobs."}
	if t := k.worstOf(schema.Deserialize); len(t) > 0 {
		a.Evidence = t[0].Words
	}
	return []Advice{k.gain(a, schema.Deserialize)}
}

func adviseLocality(k *known) []Advice {
	if k.lost(schema.LocalityMiss) == 0 {
		return nil
	}
	a := Advice{Title: "Wait a little longer for a slot near the data", SQL: causeSQL(schema.LocalityMiss), Confidence: Low,
		Reason: "waiting also delays tasks that would have been fast anywhere", Action: "Tasks ran away from their data and were slower for it. A longer wait, or more replicas of hot inputs, keeps more of them local."}
	if k.spark() {
		a.Settings = []Setting{k.set("spark.locality.wait", "6s")}
	}
	return []Advice{k.gain(a, schema.LocalityMiss)}
}

func adviseSpeculation(k *known) []Advice {
	lost := k.lost(schema.Transient)
	if lost == 0 && k.lost(schema.BadMachine) == 0 {
		return nil
	}
	a := Advice{Title: "Run copies of slow tasks elsewhere", SQL: causeSQL(schema.Transient),
		Action: "Tasks were slow there and then for no recorded reason; copies on other machines would have been fast."}
	if lost == 0 {
		return nil // a bad machine is better drained than raced
	}
	if t := k.worstOf(schema.Transient); len(t) > 0 {
		a.Evidence = t[0].Words
	}
	if k.f.copies > 0 {
		a.Title = "Run copies of slow tasks earlier"
		a.Evidence += fmt.Sprintf(" Copies ran already: %s, of which %s won.", count(k.f.copies), count(k.f.wins))
	}
	everywhere := k.is("spark.speculation", "true", "false")
	on := k.f.copies > 0 || everywhere
	switch {
	case !k.spark():
	case on:
		a.Settings = []Setting{k.set("spark.speculation.multiplier", "1.3"), k.set("spark.speculation.quantile", "0.5")}
		if !everywhere {
			a.Settings = append([]Setting{k.set("spark.speculation", "true")}, a.Settings...)
		}
	default:
		a.Settings = []Setting{k.set("spark.speculation", "true"), k.set("spark.speculation.multiplier", "1.5"), k.set("spark.speculation.quantile", "0.75")}
	}
	a = k.gain(a, schema.Transient)
	if s := k.bestSpark(); s != nil && k.spark() && !on {
		a.GainS, a.GainLow, a.GainHigh = s.SavingS, s.SavingLow, s.SavingHigh
		a.GainBasis = "Spark’s speculation replayed on these jobs" + after(", slot time ", null(s.SlotTimeChange, signed))
		a.Settings = k.sparkSettings(s)
		a.Evidence += " It also helps tasks on slow machines."
		if s.Verdict == "cannot tell" || s.SavingLow.V <= 0 {
			a.Confidence, a.Reason = Low, "the replay cannot tell the saving from its own error"
		}
	}
	return []Advice{a}
}

// signed is a change in percent.
func signed(v float64) string {
	if v > 0 {
		return "+" + percent(v)
	}
	return percent(v)
}

// bestSpark is the replay of Spark's own speculation that saves most.
func (k *known) bestSpark() *Saving {
	var best *Saving
	for i := range k.d.Whatif.Savings.Rows {
		s := &k.d.Whatif.Savings.Rows[i]
		if strings.HasPrefix(s.Policy, "spark") && s.SavingS.OK && s.SavingS.V > 0 && (best == nil || s.SavingS.V > best.SavingS.V) {
			best = s
		}
	}
	return best
}

func adviseUnexplained(k *known) []Advice {
	l := k.d.Cost.Loss
	unexplained := k.lost(schema.UnexplainedCause)
	late := k.lost(notOutlier)
	var out []Advice
	if l.LostS.V > 0 && unexplained >= 0.15*l.LostS.V && unexplained >= worth*l.CompletionS.V {
		a := Advice{Kind: CannotTell, Title: fmt.Sprintf("Cannot tell: %s of the lost time has no cause", seconds(unexplained)), SQL: causeSQL(schema.UnexplainedCause),
			Action: "More runs of the same application in one store give the model more tasks to learn from."}
		if t := k.worstOf(schema.UnexplainedCause); len(t) > 0 {
			a.Evidence = t[0].Words
		}
		out = append(out, a)
	}
	if l.LostS.V > 0 && late >= 0.3*l.LostS.V && late >= worth*l.CompletionS.V {
		out = append(out, Advice{Kind: CannotTell, Title: fmt.Sprintf("%s were lost to tasks that are no outliers", upper(seconds(late))),
			Action: "They ended late because they started late, or were only a little slower than the median. More, smaller tasks or more slots shorten such tails; no straggler remedy does."})
	}
	return out
}
