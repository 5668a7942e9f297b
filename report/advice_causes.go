package report

import (
	"fmt"
	"strconv"
	"strings"

	"straggler/report/prose"
	"straggler/schema"
	"straggler/stats"
)

func adviseNetwork(k *known) []Advice {
	if k.lost(schema.Network) == 0 && k.words(schema.Network) == "" {
		return nil
	}
	a := Advice{Title: "Find the slow link", Evidence: k.words(schema.Network), SQL: causeSQL(schema.Network),
		Action: "Tasks waited for blocks from other machines. The log does not say which machine was slow to send: compare the send rates and errors of the hosts while these phases ran and look for one far below the rest; otherwise spread the reads over time or racks."}
	if machine := k.oneMachine(schema.Network); machine != "" {
		a.Title = "Check the network link of " + prose.Name(machine)
		a.Action = fmt.Sprintf("Most of the waiting for blocks was for the link of %s: check its errors and neighbours, and its rates in both directions while these phases ran.", prose.Name(machine))
	} else if machine, share := k.firstMachine(schema.Network); machine != "" {
		a.Action += fmt.Sprintf(" Tasks on %s lost most, %s of it: look at its link first.", prose.Name(machine), prose.Percent(share))
	}
	return []Advice{k.gain(a, schema.Network)}
}

// ofCause returns the rule for a cause to which jobs lost time; complete fills in the advice about it.
func ofCause(c schema.Cause, complete func(k *known, a *Advice)) func(k *known) []Advice {
	return func(k *known) []Advice {
		if k.lost(c) == 0 {
			return nil
		}
		a := Advice{Evidence: k.words(c), SQL: causeSQL(c)}
		complete(k, &a)
		return []Advice{k.gain(a, c)}
	}
}

func adviseRecompute(k *known, a *Advice) {
	a.Title = "Keep outputs that later phases need"
	a.Action = "Outputs were lost with the process or machine that held them, and were recomputed while others waited. Let them outlive the process that wrote them."
	if n := len(k.f.losses); n > 0 {
		l := k.f.losses[0]
		a.SQL = "SELECT machine, count(*) AS losses, min(time) AS first, max(time) AS last FROM losses\nGROUP BY machine ORDER BY losses DESC NULLS LAST"
		a.Evidence = fmt.Sprintf("%s lost", prose.Plural(l.Losses, "output", "outputs"))
		if l.Machine != "" {
			a.Title += fmt.Sprintf(", and look at %s", prose.Name(l.Machine))
			a.Evidence += " on " + prose.Name(l.Machine)
		}
		if n > 1 {
			a.Evidence += fmt.Sprintf(", and on %s", prose.Plural(int64(n-1), "other machine", "other machines"))
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
}

func adviseGC(k *known, a *Advice) {
	a.Title = "Give executors more memory, or fewer tasks at once"
	a.Action = "Processes collected garbage while tasks waited. Half as much memory again, or fewer tasks in each process, makes collections rarer."
	if k.spark() {
		if m, ok := scaleSize(k.f.settings["spark.executor.memory"].Or("1g"), 1.5); ok {
			a.Settings = append(a.Settings, k.set("spark.executor.memory", m))
		}
	}
	if machine := k.oneMachine(schema.GC); machine != "" {
		a.Title = "Find out what fills the memory on " + prose.Name(machine)
		a.Action = fmt.Sprintf("Most of the garbage collection that tasks waited for happened on %s, and little elsewhere: look at what its processes keep in memory (cached blocks, broadcast variables, a leak) and at how much they were given. More memory for every process helps only if all of them are short of it.", prose.Name(machine))
		a.Settings = nil
	}
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

func adviseSpill(k *known, a *Advice) {
	a.Title = "Make partitions small enough for memory"
	a.Action = "Tasks spilled to disk what did not fit in memory and read it again. More, smaller partitions avoid that, and so does more memory."
	if k.spark() {
		if n, err := strconv.Atoi(k.f.settings["spark.sql.shuffle.partitions"].Or("200")); err == nil && n > 0 && n < 1e6 {
			a.Settings = append(a.Settings, k.set("spark.sql.shuffle.partitions", strconv.Itoa(2*n)))
		}
	}
}

func adviseScheduler(k *known, a *Advice) {
	a.Title = "Relieve the driver"
	a.Action = "Tasks waited between launch and run, or for their results to be collected. Check the driver’s load and garbage collections at that time; fewer and longer tasks, and smaller results, put less load on it."
}

func adviseDeserialize(k *known, a *Advice) {
	a.Title = "Make tasks lighter to start"
	a.Action = "Tasks spent their time deserializing code and variables. Broadcast large variables instead of capturing them, and keep executors alive between jobs."
}

func adviseStartup(k *known, a *Advice) {
	a.Title = "Start fewer executors, and keep them"
	a.Confidence = Low
	a.everyRun = true
	a.Reason = "every process pays for its start once; only fewer starts, or more work per process, reduce that cost"
	a.Action = "The first tasks on machines and executors loaded classes, compiled, connected and filled caches. Keep executors between jobs, give them larger tasks, or share an archive of classes (-XX:SharedArchiveFile). In a job of a few waves there is nothing else to do about it."
	if k.is("spark.dynamicAllocation.enabled", "true", "false") {
		a.Settings = []Setting{k.set("spark.dynamicAllocation.executorIdleTimeout", "300s")}
		a.everyRun = false // executors are given back while they are still needed
	}
}

func adviseLocality(k *known, a *Advice) {
	a.Title = "Wait a little longer for a slot near the data"
	a.Confidence = Low
	a.Reason = "waiting also delays tasks that would have been fast anywhere"
	a.Action = "Tasks did not run where their data was, and were slower for it. A longer wait, or more replicas of hot inputs, keeps more of them local."
	if k.spark() {
		a.Settings = []Setting{k.set("spark.locality.wait", "6s")}
	}
}

func adviseUnexplained(k *known) []Advice {
	l := k.d.Cost.Loss
	unexplained := k.lost(schema.UnexplainedCause)
	late := k.lost(NotOutlier)
	var out []Advice
	if l.LostS.V > 0 && unexplained >= k.mentionedPart*l.LostS.V && unexplained >= k.worth*l.CompletionS.V {
		a := Advice{Kind: CannotTell,
			Title:    fmt.Sprintf("Cannot tell: %s of the lost time has no cause", prose.Seconds(unexplained)),
			Evidence: k.words(schema.UnexplainedCause), SQL: causeSQL(schema.UnexplainedCause),
			Action: "More runs of the same application in one store give the model more tasks to learn from."}
		out = append(out, a)
	}
	if l.LostS.V > 0 && late >= k.latePart*l.LostS.V && late >= k.worth*l.CompletionS.V {
		out = append(out, Advice{Kind: CannotTell, Title: fmt.Sprintf("%s were lost to tasks that are not outliers", prose.Upper(prose.Seconds(late))),
			Action: "They ended late because they started late, or were only a little slower than the median. More, smaller tasks or more slots shorten such tails; no straggler remedy does."})
	}
	return out
}

// words name the outlier of a cause that ranks first, and say why it was slow; empty where none is listed.
func (k *known) words(c schema.Cause) string {
	tasks := k.worstOf(c)
	if len(tasks) == 0 {
		return ""
	}
	o := tasks[0]
	s := fmt.Sprintf("Task %d of %s", o.Task, PhaseTitle(o.Phase, o.PhaseAttempt))
	if app := AppOf(k.d, o.Application); app != "" {
		s += " in " + app
	}
	return s + ": " + prose.Lower(o.Words)
}

// oneMachine returns the machine on which most seconds of a cause were lost, if one of several machines is to blame for it.
func (k *known) oneMachine(c schema.Cause) string {
	const leastVerdicts, most = 3, 0.5 // estimates: fewer verdicts may be on one machine by chance
	f := k.f.causes[c]
	if f == nil || f.n < leastVerdicts || k.d.Machines.List.Total < 2 || f.most < most*f.seconds {
		return ""
	}
	return f.machine
}

// firstMachine returns the machine on which most seconds of a cause were lost, and their share, if that is at least twice what
// it would be if all machines lost as much, and chance would seldom give one of them as many verdicts.
func (k *known) firstMachine(c schema.Cause) (machine string, share float64) {
	const least = 2 // estimate: with less, other machines are worth a look as well
	f, machines := k.f.causes[c], float64(k.d.Machines.List.Total)
	if f == nil || machines < 2 || !(f.seconds > 0) || f.most/f.seconds < least/machines || !unlikely(f.mostN, f.n, machines) {
		return "", 0
	}
	return f.machine, f.most / f.seconds
}

// unlikely reports whether one of so many machines gets at least k of n verdicts with a probability below 0.05 if each verdict is
// on any machine with the same probability (Bonferroni's bound).
func unlikely(k, n int64, machines float64) bool {
	return machines*stats.BinomialSurvival(k, n, 1/machines) < 0.05
}

func causeSQL(c schema.Cause) string {
	return fmt.Sprintf("SELECT a.machine, a.phase_id, a.task, a.native_id, a.duration_s, c.seconds, c.confidence, c.evidence\nFROM attributions c JOIN attempts a ON a.attempt_id = c.attempt_id\nWHERE c.cause = '%s' AND c.rank = 1 ORDER BY c.seconds DESC NULLS LAST", c)
}
