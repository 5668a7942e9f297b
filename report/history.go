package report

import (
	"fmt"
	"math"
	"strings"

	"straggler/report/prose"
	"straggler/schema"
	"straggler/sharing"
)

// SlowRun is an application that took longer than earlier runs of its program in the store. Nothing in it need be an outlier:
// where a stage is slow as a whole, its median is too.
type SlowRun struct {
	SlowRunRow
	Stages    []SlowStage         `col:"stages" doc:"stages whose median task took longer than usual, by the time that all their tasks took more"`
	Changed   []ChangedSetting    `col:"changed" doc:"settings that all earlier runs had alike and this run has not"`
	Load      *Load               `col:"load" doc:"its tasks and slots, and those of earlier runs; NULL where the log names no slots"`
	Plans     []ChangedPlan       `col:"plans" doc:"queries that were run with another plan than in all earlier runs"`
	Resource  schema.Null[string] `col:"resource" doc:"what most of the time went to that the tasks of its slow stages took more: input, work, processor or disk; NULL where that cannot be told"`
	Shared    []sharing.Feature   `col:"shared" doc:"what the tasks that are slower than usual have in common, the best explanation first"`
	HeldTasks int64               `col:"held_tasks" doc:"tasks of its stages with a history"`
	HeldSlow  int64               `col:"held_slow" doc:"of these, slower than usual"`
	Points    []RunPoint          `col:"points" doc:"the runs of that program in order of time, the last 200"`
	Words     []string            `col:"words" doc:"why, in sentences"`
}

// SlowRunRow is a row of slow_runs.sql.
type SlowRunRow struct {
	ApplicationID schema.Key               `col:"application_id"`
	NativeID      string                   `col:"native_id"`
	Name          string                   `col:"name"`
	Program       string                   `col:"program" doc:"its name without what differs in each run, such as a date"`
	StartTime     schema.Null[schema.Time] `col:"start_time"`
	TookS         float64                  `col:"took_s" unit:"s" doc:"from its start to its end"`
	UsualS        float64                  `col:"usual_s" unit:"s" doc:"median of the earlier runs of that program"`
	ScatterS      float64                  `col:"scatter_s" unit:"s" doc:"robust standard deviation between them"`
	Runs          int64                    `col:"runs" doc:"earlier runs that it is compared with: all complete ones, or 64 spread evenly over them"`
}

// SlowStage is a stage of a slow run, with the main cause of its tasks' excess over their usual durations.
type SlowStage struct {
	SlowStageRow
	Cause schema.Null[schema.HistoryCause] `col:"cause" doc:"what most seconds of its slow tasks over the usual are due to; NULL where none is known to be slow"`
	Place schema.Null[string]              `col:"place" doc:"the machine or node of that; NULL where it is most machines"`
}

// SlowStageRow is a row of slow_stages.sql.
type SlowStageRow struct {
	ApplicationID schema.Key           `col:"application_id"`
	PhaseID       schema.Key           `col:"phase_id"`
	NativeID      string               `col:"native_id"`
	Stage         string               `col:"stage"`
	Kind          string               `col:"kind"`
	MedianS       float64              `col:"median_s" unit:"s" doc:"median duration of its tasks"`
	UsualS        float64              `col:"usual_s" unit:"s" doc:"median of that over earlier runs"`
	Runs          int64                `col:"runs" doc:"earlier executions of the stage that it is compared with"`
	Outliers      schema.Null[int64]   `col:"outliers" doc:"tasks longer than 1.5 × the stage's own median"`
	Tasks         int64                `col:"tasks" doc:"its successful tasks"`
	UsualTasks    float64              `col:"usual_tasks" doc:"median of that over earlier runs"`
	WorkRatio     schema.Null[float64] `col:"work_ratio" unit:"ratio" doc:"median input of a task over the usual one"`
	CPUS          schema.Null[float64] `col:"cpu_s" unit:"s" doc:"median processor time of its tasks"`
	UsualCPUS     schema.Null[float64] `col:"usual_cpu_s" unit:"s"`
	WaitS         schema.Null[float64] `col:"wait_s" unit:"s" doc:"median time that its tasks waited for input"`
	UsualWaitS    schema.Null[float64] `col:"usual_wait_s" unit:"s"`
	UsualBytes    schema.Null[float64] `col:"usual_input_bytes" unit:"bytes" doc:"median over earlier runs of the median input of its tasks"`
	MoreS         float64              `col:"more_s" unit:"s" doc:"(median − usual) × tasks"`
}

// ChangedSetting is a row of changed_settings.sql.
type ChangedSetting struct {
	ApplicationID schema.Key          `col:"application_id"`
	Name          string              `col:"name"`
	Was           string              `col:"was" doc:"its value in all earlier runs"`
	Value         schema.Null[string] `col:"value" doc:"its value in this run; NULL where it is not set"`
	Runs          int64               `col:"runs" doc:"earlier runs"`
}

// RunPoint is one run of a program.
type RunPoint struct {
	ApplicationID schema.Key               `col:"application_id"`
	StartTime     schema.Null[schema.Time] `col:"start_time"`
	TimeOrigin    string                   `col:"time_origin"`
	TookS         float64                  `col:"took_s" unit:"s"`
}

// Limits of a document: slow runs, stages of each, and settings of each.
const (
	mostSlowRuns   = 20
	mostSlowStages = 5
	mostChanged    = 8
)

// history lists the runs that were slow as a whole, and why.
func (b *builder) history() error {
	l := &b.doc.SlowRuns
	l.SQL = "SELECT name, native_id, start_time, finish_time FROM applications ORDER BY name NULLS LAST, start_time NULLS LAST"
	l.Note = "No run took longer than the earlier runs of its program; programs with fewer than three earlier runs are not compared."
	var keys []schema.Key
	if err := b.programs(); err != nil {
		return err
	}
	if err := b.slowHours(); err != nil {
		return err
	}
	err := readStore(b, "slow_runs", func(r *SlowRunRow) error {
		if _, ok := b.sums.apps[r.ApplicationID]; !ok {
			return nil // not of this report
		}
		if l.Total++; len(l.Rows) < mostSlowRuns {
			l.Rows, keys = append(l.Rows, SlowRun{SlowRunRow: *r}), append(keys, r.ApplicationID)
		}
		return nil
	})
	if err != nil || len(keys) == 0 {
		return err
	}
	if err := b.pick("report_slow_apps", "application_id", keys); err != nil {
		return err
	}
	if err := b.keepStore("report_earlier", "earlier_runs"); err != nil {
		return err
	}
	runs := indexBy(l.Rows, func(r *SlowRun) schema.Key { return r.ApplicationID })
	for _, fill := range []func(runs map[schema.Key]int) error{b.slowStages, b.sharedSlowness, b.sharing, b.changedSettings,
		b.changedPlans, b.loads, b.runPoints} {
		if err := fill(runs); err != nil {
			return err
		}
	}
	for i := range l.Rows {
		l.Rows[i].Words = l.Rows[i].why()
	}
	return nil
}

// programs makes a session table of the program that each application is a run of.
func (b *builder) programs() error {
	names := schema.SessionNames()
	for i, name := range names {
		names[i] = "(" + b.eng.Dialect().QuoteText(name) + ")"
	}
	if err := b.eng.Materialize(b.ctx, "report_sessions", "SELECT name FROM (VALUES "+strings.Join(names, ", ")+") AS t(name)"); err != nil {
		return err
	}
	return b.keepStore("report_programs", "programs")
}

// slowStages lists the stages of each slow run that were slower than usual; runs are the positions of the runs in the list.
func (b *builder) slowStages(runs map[schema.Key]int) error {
	l := b.doc.SlowRuns.Rows
	spent := make([]resources, len(l))
	err := readStore(b, "slow_stages", func(s *SlowStageRow) error {
		i := runs[s.ApplicationID]
		spent[i].add(s)
		if r := &l[i]; len(r.Stages) < mostSlowStages {
			r.Stages = append(r.Stages, SlowStage{SlowStageRow: *s})
		}
		return nil
	})
	for i := range spent {
		l[i].Resource = spent[i].most()
	}
	return err
}

// changedSettings lists the settings that were equal in all earlier runs and differ in a slow run.
func (b *builder) changedSettings(runs map[schema.Key]int) error {
	return readStore(b, "changed_settings", func(c *ChangedSetting) error {
		if r := &b.doc.SlowRuns.Rows[runs[c.ApplicationID]]; len(r.Changed) < mostChanged {
			r.Changed = append(r.Changed, *c)
		}
		return nil
	})
}

// sharedSlowness finds the main cause of each slow stage.
func (b *builder) sharedSlowness(map[schema.Key]int) error {
	stages := map[schema.Key]*SlowStage{}
	var keys []schema.Key
	for i := range b.doc.SlowRuns.Rows {
		r := &b.doc.SlowRuns.Rows[i]
		for k := range r.Stages {
			stages[r.Stages[k].PhaseID] = &r.Stages[k]
			keys = append(keys, r.Stages[k].PhaseID)
		}
	}
	if err := b.pick("report_slow_phases", "phase_id", keys); err != nil {
		return err
	}
	return readStore(b, "slow_shared", func(x *struct {
		PhaseID schema.Key          `col:"phase_id"`
		Cause   schema.HistoryCause `col:"cause"`
		Place   schema.Null[string] `col:"place"`
		Seconds float64             `col:"seconds"`
	}) error {
		if s := stages[x.PhaseID]; !s.Cause.OK { // they come by seconds
			s.Cause, s.Place = schema.Some(x.Cause), x.Place
		}
		return nil
	})
}

// runPoints adds to each slow run the runs of its program.
func (b *builder) runPoints(map[schema.Key]int) error {
	points := map[string][]RunPoint{}
	err := readStore(b, "run_points", func(x *struct {
		Program       string                   `col:"program"`
		ApplicationID schema.Key               `col:"application_id"`
		StartTime     schema.Null[schema.Time] `col:"start_time"`
		TimeOrigin    string                   `col:"time_origin"`
		TookS         float64                  `col:"took_s"`
	}) error {
		points[x.Program] = append(points[x.Program], RunPoint{x.ApplicationID, x.StartTime, x.TimeOrigin, x.TookS})
		return nil
	})
	for i := range b.doc.SlowRuns.Rows {
		r := &b.doc.SlowRuns.Rows[i]
		r.Points = points[r.Program]
	}
	return err
}

// why explains in sentences what made the run slow.
func (r *SlowRun) why() (words []string) {
	words = prose.NonEmpty(append(sharing.Words(r.Shared, r.HeldTasks, r.HeldSlow, r.TookS), prose.Upper(resourceWords(r.Resource.V)), r.Load.words())...)
	for i := range r.Stages {
		words = append(words, r.Stages[i].why())
	}
	for i := range r.Plans {
		words = append(words, r.Plans[i].words())
	}
	for _, c := range r.Changed {
		now := "is not set"
		if c.Value.OK {
			now = "is " + prose.Name(c.Value.V)
		}
		words = append(words, fmt.Sprintf("The setting %s %s; it was %s in all %s.", prose.Name(c.Name), now, prose.Name(c.Was),
			prose.Plural(c.Runs, "earlier run", "earlier runs")))
	}
	if len(r.Stages) == 0 {
		words = append(words, "In no stage did the median task take much longer than usual: the run waited between stages, for slots, or for a few tasks.")
	}
	return words
}

// name returns the name of the stage.
func (g *SlowStage) name() string {
	if g.Stage == "" {
		return prose.Name(g.Kind)
	}
	return prose.Name(g.Stage)
}

// why describes how much slower a stage was, where, and what its tasks spent the time on.
func (g *SlowStage) why() string {
	s := fmt.Sprintf("Tasks of %s took %s, %s their usual %s", g.name(), prose.Seconds(g.MedianS), prose.Times(g.MedianS/g.UsualS), prose.Seconds(g.UsualS))
	switch {
	case !g.Cause.OK:
	case g.Cause.V == schema.SharedSlowness && g.Place.OK:
		s += ", those on " + prose.Name(g.Place.V) + " above all"
	case g.Cause.V == schema.SharedSlowness:
		s += " on most machines"
	case g.Cause.V == schema.SlowMachine && g.Place.OK:
		s += ", those on " + prose.Name(g.Place.V) + " above all"
	case g.Cause.V == schema.MoreWork:
		s += ", as their input grew"
	}
	parts := []string{s, g.spent()}
	if g.WorkRatio.OK && (g.WorkRatio.V > 1.1 || g.WorkRatio.V < 0.9) {
		parts = append(parts, "their input was "+prose.Times(g.WorkRatio.V)+" the usual")
	}
	if n := float64(g.Tasks); n > 1.1*g.UsualTasks {
		parts = append(parts, fmt.Sprintf("there were %s of them, usually %s", prose.Count(g.Tasks), prose.Count(int64(g.UsualTasks))))
	}
	if g.Outliers.OK && g.Outliers.V == 0 {
		parts = append(parts, "none of them is an outlier")
	}
	return strings.Join(prose.NonEmpty(parts...), "; ") + "."
}

// spent describes what the time of a task was spent on, waiting for input or the processor, if the log has it.
func (g *SlowStage) spent() string {
	more := g.MedianS - g.UsualS
	waited := g.WaitS.OK && g.UsualWaitS.OK
	computed := g.CPUS.OK && g.UsualCPUS.OK
	switch {
	case waited && g.WaitS.V-g.UsualWaitS.V > 0.5*more:
		return fmt.Sprintf("they waited %s for their input, usually %s", prose.Seconds(g.WaitS.V), prose.Seconds(g.UsualWaitS.V))
	case computed && g.CPUS.V-g.UsualCPUS.V > 0.5*more:
		return fmt.Sprintf("they used %s of processor time, usually %s", prose.Seconds(g.CPUS.V), prose.Seconds(g.UsualCPUS.V))
	case computed && math.Abs(g.CPUS.V-g.UsualCPUS.V) < 0.1*more:
		return fmt.Sprintf("their processor time was as usual, %s: they waited for a disk, a lock, the network or a processor", prose.Seconds(g.CPUS.V))
	}
	return ""
}

// historyWords names the run that was slowest as a whole, and its slowest stage.
func historyWords(d *Document) string {
	if len(d.SlowRuns.Rows) == 0 {
		return ""
	}
	r := &d.SlowRuns.Rows[0]
	s := fmt.Sprintf("%s took %s, %s the usual %s of %s (%s)", prose.Name(r.NativeID), prose.Seconds(r.TookS),
		prose.Times(r.TookS/r.UsualS), prose.Seconds(r.UsualS),
		prose.Name(r.Program), prose.Plural(r.Runs, "earlier run", "earlier runs"))
	if len(r.Stages) > 0 {
		g := &r.Stages[0]
		s += fmt.Sprintf(": half of the tasks of %s took %s their usual time or more", g.name(), prose.Times(g.MedianS/g.UsualS))
		if g.Outliers.OK && g.Outliers.V == 0 {
			s += ", and none of them is an outlier"
		}
	}
	return s + "."
}

// historyWhy describes what the tasks of that stage spent the time on, and what else changed.
func historyWhy(d *Document) string {
	if len(d.SlowRuns.Rows) == 0 {
		return ""
	}
	r := &d.SlowRuns.Rows[0]
	var words []string
	switch {
	case r.Resource.OK:
		words = append(words, strings.TrimSuffix(resourceWords(r.Resource.V), "."))
	case len(r.Stages) > 0:
		words = append(words, r.Stages[0].spent())
	}
	if n := int64(len(r.Plans)); n > 0 {
		words = append(words, prose.Plural(n, "query was run with another plan", "queries were run with other plans")+" than in the runs before")
	}
	if n := int64(len(r.Changed)); n > 0 {
		words = append(words, prose.Plural(n, "setting", "settings")+" changed since the runs before")
	}
	if n := d.SlowRuns.Total - 1; n > 0 {
		words = append(words, prose.Plural(n, "other run was", "other runs were")+" slow as a whole too")
	}
	if words = prose.NonEmpty(words...); len(words) == 0 {
		return ""
	}
	return fmt.Sprintf("Of %s: %s.", prose.Name(r.NativeID), strings.Join(words, "; "))
}
