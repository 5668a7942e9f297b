package report

import (
	"bufio"
	"fmt"
	"io"
	"reflect"
)

// armsTable lists the arms of a simulation.
func armsTable(d *Simulation) table {
	t := table{ID: "arms", Caption: "Schedulers and policies, over all seeds", Empty: "No run was finished.",
		Columns: []column{{Title: "Scheduler", Essential: true}, {Title: "Policy"},
			{Title: "Mean", Doc: "mean completion time", Number: true, Essential: true},
			{Title: "p95", Doc: "95th percentile of the completion times", Number: true},
			{Title: "Makespan", Doc: "from the first submission to the last end", Number: true, Essential: true},
			{Title: "Gain", Doc: "mean completion time of the first line over this one's, paired by seed", Number: true, Essential: true},
			{Title: "95 %", Doc: "interval of the gain over the seeds"},
			{Title: "Local", Doc: "share of the tasks with data that ran on a machine with it", Number: true, Essential: true},
			{Title: "In rack", Doc: "share that ran in a rack with it", Number: true},
			{Title: "Between racks", Doc: "bytes, a run", Number: true},
			{Title: "Killed", Doc: "attempts, a run", Number: true},
			{Title: "Wasted", Doc: "slot time of killed attempts over that of all", Number: true}}}
	counted := len(d.Arms) > 0 && d.Arms[0].EndedJobs.OK
	if counted {
		t.Columns = append(t.Columns, column{Title: "Jobs in time", Doc: "that ended by the instant that the workload counts until", Number: true, Essential: true})
	}
	for i := range d.Arms {
		a := &d.Arms[i]
		r := row{Cells: []cell{text(clean(a.Scheduler, nameRunes)), text(clean(a.Policy, nameRunes)), text(seconds(a.MeanS)), text(seconds(a.P95S)),
			text(seconds(a.MakespanS)), figure(a.Gain, times, "the others are held against this"), text(interval(a.GainLow, a.GainHigh, times)),
			figure(a.NodeLocal, percent, "no task has data"), figure(a.RackLocal, percent, "no task has data"), text(byteSize(a.CrossRackBytes)),
			text(fmt.Sprintf("%.0f", a.Kills)), figure(a.Wasted, percent, "")}}
		if counted {
			r.Cells = append(r.Cells, figure(a.EndedJobs, func(v float64) string { return fmt.Sprintf("%.0f", v) }, ""))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// namesTable lists jobs by name.
func namesTable(d *Simulation) table {
	t := table{ID: "names", Caption: "Jobs by name; gain is over the same jobs in the first line above", Empty: "No job was finished.",
		Columns: []column{{Title: "Jobs", Essential: true}, {Title: "Scheduler", Essential: true}, {Title: "Policy"}, {Title: "Number", Number: true},
			{Title: "Mean", Number: true, Essential: true}, {Title: "Gain", Number: true, Essential: true},
			{Title: "Most", Doc: "gain of the job that gains most", Number: true, Essential: true}, {Title: "Local", Number: true}}}
	for i := range d.Names {
		n := &d.Names[i]
		t.Rows = append(t.Rows, row{Cells: []cell{text(clean(n.Name, nameRunes)), text(clean(n.Scheduler, nameRunes)), text(clean(n.Policy, nameRunes)), number(n.Jobs),
			text(seconds(n.MeanS)), figure(n.Gain, times, ""), figure(n.Most, times, ""), figure(n.NodeLocal, percent, "no task has data")}})
	}
	return t
}

// simulationLead says in a sentence what was run.
func simulationLead(d *Simulation) string {
	return fmt.Sprintf("%s of %s, drawn %s; %s.", plural(d.Jobs, "job", "jobs"), plural(d.Tasks, "task", "tasks"),
		plural(d.Seeds, "time", "times"), plural(int64(len(d.Arms)), "scheduler and policy", "schedulers and policies"))
}

// SimulationText writes a simulation for a terminal.
func SimulationText(w io.Writer, d *Simulation, o TextOptions) error {
	if o.Width <= 0 {
		o.Width = 100
	}
	if o.Top <= 0 {
		o.Top = 40
	}
	o.Width = min(max(o.Width, 40), 400)
	b := bufio.NewWriter(w)
	t := textWriter{b, o}
	t.paragraph(clean(d.Workload, nameRunes), true)
	t.paragraph(simulationLead(d), false)
	t.line("")
	t.table(armsTable(d))
	return b.Flush()
}

// SimulationMarkdown writes a simulation as GitHub's Markdown.
func SimulationMarkdown(w io.Writer, d *Simulation) error {
	b := bufio.NewWriter(w)
	m := markdown{b}
	m.printf("# %s\n\n%s\n\n", md(clean(d.Workload, nameRunes)), md(simulationLead(d)))
	m.table(armsTable(d))
	m.table(namesTable(d))
	return b.Flush()
}

// SimulationJSON writes a simulation as one object.
func SimulationJSON(w io.Writer, d *Simulation) error {
	b := bufio.NewWriter(w)
	e := jsonWriter{b}
	e.value(reflect.ValueOf(d).Elem(), "\n")
	b.WriteByte('\n')
	return b.Flush()
}
