package live

import (
	"encoding/json"
	"fmt"
	"strings"

	"straggler/report/prose"
	"straggler/schema"
	"straggler/whatif/replay"
)

// why sets the likely cause so far of a slow task according to the model of causes or, for a task that is not slow yet, the
// reason to expect that it will be.
func (w *Watcher) why(t *SlowTask) {
	if a := w.cause[t.Attempt]; a != nil && t.ElapsedS > t.MedianS {
		t.Cause, t.Confidence = a.Cause, a.Confidence
		var e struct{ Text string }
		if json.Unmarshal([]byte(a.Evidence), &e) == nil {
			t.Evidence = e.Text
		}
		return
	}
	switch f := w.factor(t.Machine); {
	case f > 1:
		t.Cause, t.Evidence = schema.BadMachine, fmt.Sprintf("its machine takes %s as long as others", prose.Times(f))
	case t.Size.OK && t.Size.V > schema.OutlierRatio:
		t.Cause, t.Evidence = schema.DataSkew, "it has read "+prose.Times(t.Size.V)+" the median already"
	case t.Basis == ByDuration:
		t.Cause, t.Evidence = schema.UnexplainedCause, "those that ran as long, or on its machine, took that long"
	case t.Basis == ByProgress:
		t.Cause, t.Evidence = schema.UnexplainedCause, "it gets on more slowly than the others did"
	default:
		t.Cause, t.Evidence = schema.UnexplainedCause, "it reads more slowly than the others did"
	}
}

// A copy helps if it is likely enough to end first: with a probability above MANTRI's δ (§5.1: a duplicate is worth its
// resources if it saves some with a probability over 0.25).
const helps, mayHelp = 0.5, 0.25

// advise describes whether a copy would help. If the executor of a task has not reported its input, while other tasks have some,
// the task may simply have more to read.
func (t *SlowTask) advise(unreported bool) {
	c := &t.Copy
	skewed := t.Size.OK && t.Size.V > schema.OutlierRatio
	switch {
	case !c.Wins.OK:
		c.Advice = "whether copying would help is not known"
	case c.Wins.V < mayHelp && skewed:
		c.Helps, c.Advice = No, "copying will not help: it reads "+times(t.Size.V)+" the median"
	case c.Wins.V < mayHelp && t.Cause == schema.DataSkew:
		c.Helps, c.Advice = No, "copying will not help: it has more to do than the others"
	case c.Wins.V < mayHelp:
		c.Helps, c.Advice = No, "copying will not help: it will probably end before a copy would"
	case unreported:
		c.Advice = "a copy may help: " + c.gain() + "; what it has read is not reported yet"
	case c.Wins.V >= helps:
		c.Helps, c.Advice = Yes, "a copy elsewhere would help: "+c.gain()
	default:
		c.Advice = "a copy may help: " + c.gain()
	}
}

// Left describes how long the task will still take, with the 90 % interval. A task that is as likely as not to end now is due.
func (t *SlowTask) Left() string {
	switch {
	case t.LeftHigh < 0.5:
		return "due now"
	case t.LeftS < 0.5:
		return fmt.Sprintf("due now, may take up to %s more", prose.Seconds(t.LeftHigh))
	}
	return fmt.Sprintf("%s left [%s, %s]", prose.Seconds(t.LeftS), prose.Seconds(max(t.LeftLow, 0)), prose.Seconds(t.LeftHigh))
}

// gain writes the expected gain with its interval.
func (c *Copy) gain() string {
	return fmt.Sprintf("expected gain %s [%s, %s]", prose.Seconds(c.GainS.V), prose.Seconds(c.GainLow.V), prose.Seconds(c.GainHigh.V))
}

// times writes a ratio in words.
func times(x float64) string {
	if x >= 3 {
		return fmt.Sprintf("%.0f×", x)
	}
	return fmt.Sprintf("%.1f×", x)
}

// describe sets the text of a decision.
func (d *Decision) describe() {
	task := fmt.Sprintf("task %d of stage %s", d.Task, prose.Name(d.Stage))
	if d.Tasks > 1 {
		task = fmt.Sprintf("%d tasks of stage %s", d.Tasks, prose.Name(d.Stage))
	}
	switch d.Verb {
	case replay.CopyTask:
		d.Text = fmt.Sprintf("%s would copy %s now", d.Policy, task)
	case replay.RestartTask:
		d.Text = fmt.Sprintf("%s would kill and restart %s now", d.Policy, task)
	case replay.KillAttempt:
		d.Text = fmt.Sprintf("%s would kill an attempt of %s now", d.Policy, task)
	case replay.AvoidMachine:
		d.Text = fmt.Sprintf("%s would keep tasks off %s now", d.Policy, prose.Name(d.Machine))
		return
	}
	if d.Machine != "" {
		d.Text += ", on " + prose.Name(d.Machine)
	}
	if c := d.Copy; c != nil && (d.Verb == replay.CopyTask || d.Verb == replay.RestartTask) {
		if c.Helps == No {
			d.Text += "; " + c.Advice
		} else if c.GainS.OK {
			d.Text += "; " + c.gain()
		}
	}
}

// advise describes what to do about a slow machine. Spark's own spark.excludeOnFailure does not help, because its tasks are slow
// but do not fail.
func (m *Machine) advise(master string) {
	name := prose.Name(m.Machine)
	where := "by what the store knows of it"
	if m.Stages > 0 {
		where = "in " + prose.Plural(m.Stages, "stage", "stages")
	}
	how := "in the resource manager; spark.excludeOnFailure counts failures only"
	switch {
	case strings.HasPrefix(master, "yarn"):
		how = "spark.yarn.exclude.nodes=" + name + " for the next run, or decommission it; spark.excludeOnFailure counts failures only"
	case strings.HasPrefix(master, "k8s"):
		how = "cordon the node; spark.excludeOnFailure counts failures only"
	case strings.HasPrefix(master, "spark"):
		how = "stop the worker on it; spark.excludeOnFailure counts failures only"
	}
	m.Advice = fmt.Sprintf("host %s is %s slow %s: exclude it (%s)", name, times(m.Factor), where, how)
}
