package view

import (
	"fmt"

	"straggler/report"
	"straggler/report/prose"
)

// ArmsTable lists the arms of a simulation.
// SimulationSections are the sections of a simulation, in reading order.
func SimulationSections(d *report.Simulation) []Section {
	return []Section{
		{ID: "schedulers", Short: "Schedulers", Title: "Schedulers and policies", Blocks: []Block{armsTable(d)}},
		{ID: "times", Short: "Times", Title: "Completion times", Blocks: []Block{
			Lead("The share of jobs that took at most this long, on a logarithmic scale."), CompletionTimes{d}}},
		{ID: "locality", Short: "Locality", Title: "Locality", Blocks: []Block{
			Lead("Tasks with data: on a machine that has it, in a rack that has it, elsewhere."), LocalityBars{d}}},
		{ID: "over", Short: "Over time", Title: "Slots and links over time", Blocks: []Block{
			Lead("The runs of the first seed. The load of the links is the mean over the racks’ uplinks. Downlinks carry the same amount, since what goes up one link comes down another."), OverTime{d}}},
		{ID: "jobs", Short: "Jobs", Title: "Jobs by name", Blocks: []Block{namesTable(d)}},
	}
}

func armsTable(d *report.Simulation) Table {
	t := Table{ID: "arms", Caption: "Schedulers and policies, over all seeds", Empty: "No run was finished.",
		Columns: []Column{{Title: "Scheduler", Essential: true}, {Title: "Policy"},
			{Title: "Mean", Doc: "mean completion time", Number: true, Essential: true},
			{Title: "p95", Doc: "95th percentile of the completion times", Number: true},
			{Title: "Makespan", Doc: "from the first submission to the last end", Number: true, Essential: true},
			{Title: "Gain", Doc: "mean completion time of the first line over this one's, paired by seed", Number: true, Essential: true},
			{Title: "95 %", Doc: "interval of the gain over the seeds"},
			{Title: "Local", Doc: "share of the tasks with data that ran on a machine with it", Number: true, Essential: true},
			{Title: "In rack", Doc: "share that ran in a rack with it", Number: true},
			{Title: "Between racks", Doc: "bytes per run", Number: true},
			{Title: "Killed", Doc: "attempts per run", Number: true},
			{Title: "Wasted", Doc: "slot time of killed attempts over that of all", Number: true}}}
	counted := len(d.Arms) > 0 && d.Arms[0].EndedJobs.OK
	if counted {
		t.Columns = append(t.Columns,
			Column{Title: "Jobs in time", Doc: "jobs that ended by the time up to which the workload counts them", Number: true, Essential: true})
	}
	for i := range d.Arms {
		a := &d.Arms[i]
		r := Row{Cells: []Cell{text(prose.Clean(a.Scheduler, prose.NameRunes)), text(prose.Clean(a.Policy, prose.NameRunes)),
			text(prose.Seconds(a.MeanS)), text(prose.Seconds(a.P95S)),
			text(prose.Seconds(a.MakespanS)), figure(a.Gain, prose.Times, "the others are compared with this one"),
			text(prose.Interval(a.GainLow, a.GainHigh, prose.Times)),
			figure(a.NodeLocal, prose.Percent, "no task has data"), figure(a.RackLocal, prose.Percent, "no task has data"), text(prose.Bytes(a.CrossRackBytes)),
			text(fmt.Sprintf("%.0f", a.Kills)), figure(a.Wasted, prose.Percent, "")}}
		if counted {
			r.Cells = append(r.Cells, figure(a.EndedJobs, func(v float64) string { return fmt.Sprintf("%.0f", v) }, ""))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// namesTable lists jobs by name.
func namesTable(d *report.Simulation) Table {
	t := Table{ID: "names", Aside: true, Caption: "Jobs by name; gain is over the same jobs in the first line above", Empty: "No job was finished.",
		Columns: []Column{{Title: "Jobs", Essential: true}, {Title: "Scheduler", Essential: true}, {Title: "Policy"}, {Title: "Number", Number: true},
			{Title: "Mean", Number: true, Essential: true}, {Title: "Gain", Number: true, Essential: true},
			{Title: "Largest gain", Doc: "gain of the job that gains most", Number: true, Essential: true}, {Title: "Local", Number: true}}}
	for i := range d.Names {
		n := &d.Names[i]
		t.Rows = append(t.Rows, Row{Cells: []Cell{text(prose.Clean(n.Name, prose.NameRunes)),
			text(prose.Clean(n.Scheduler, prose.NameRunes)), text(prose.Clean(n.Policy, prose.NameRunes)), number(n.Jobs),
			text(prose.Seconds(n.MeanS)), figure(n.Gain, prose.Times, ""), figure(n.Most, prose.Times, ""),
			figure(n.NodeLocal, prose.Percent, "no task has data")}})
	}
	return t
}

// SimulationLead returns a sentence about what was run.
func SimulationLead(d *report.Simulation) string {
	return fmt.Sprintf("%s of %s, drawn %s; %s.", prose.Plural(d.Jobs, "job", "jobs"), prose.Plural(d.Tasks, "task", "tasks"),
		prose.Plural(d.Seeds, "time", "times"), prose.Plural(int64(len(d.Arms)), "combination of scheduler and policy", "combinations of scheduler and policy"))
}

// ArmName returns the name of an arm in a table or a legend.
func ArmName(scheduler, policy string) string {
	if policy == "none" {
		return prose.Clean(scheduler, prose.NameRunes)
	}
	return prose.Clean(scheduler, prose.NameRunes) + " + " + prose.Clean(policy, prose.NameRunes)
}
