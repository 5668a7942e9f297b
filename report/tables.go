package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"straggler/schema"
)

// A table is a list of the document as every renderer shows it: cells are text that is not yet escaped.
type table struct {
	ID      string
	Caption string
	Columns []column
	Rows    []row
	More    int64
	SQL     string // gives all rows
	Empty   string // why there are none
	After   string // what is said below it
}

// column heads cells. Narrow renderings leave out the columns that are not essential.
type column struct {
	Title     string
	Doc       string
	Number    bool
	Essential bool
	Below     bool // long words, which a terminal shows under the row
}

// row is one row; the facets are what a reader filters by.
type row struct {
	ID      string // anchor, "" for none
	App     string
	Machine string
	Causes  []schema.Cause
	Cells   []cell
}

// cell is a text with the value it sorts by and what explains it.
type cell struct {
	Text   string
	Sort   string       // "" sorts by the text
	Note   string       // why it is unknown, or how it came about
	Sub    string       // a second, quieter line
	Twin   bool         // another row has the same Text: Sub tells them apart
	Cause  schema.Cause // shown with its colour and letter
	Keyed  bool         // Cause is meant, even where it is notOutlier
	Parts  []LostPart   // shown as a stacked bar over Whole
	Whole  float64
	Saving *Saving // shown as an interval on the scale of the table
}

// drop takes out a column.
func (t *table) drop(title string) {
	i := slices.IndexFunc(t.Columns, func(c column) bool { return c.Title == title })
	if i < 0 {
		return
	}
	t.Columns = slices.Delete(t.Columns, i, i+1)
	for r := range t.Rows {
		t.Rows[r].Cells = slices.Delete(t.Rows[r].Cells, i, i+1)
	}
}

func text(s string) cell { return cell{Text: s} }

func figure(v schema.Null[float64], write func(float64) string, note string) cell {
	if !v.OK || !finite(v.V) {
		return cell{Text: dash, Sort: "", Note: note}
	}
	return cell{Text: write(v.V), Sort: strconv.FormatFloat(v.V, 'g', 9, 64)}
}

func number(n int64) cell { return cell{Text: count(n), Sort: strconv.FormatInt(n, 10)} }

func nullNumber(n schema.Null[int64], note string) cell {
	if !n.OK {
		return cell{Text: dash, Note: note}
	}
	return number(n.V)
}

func named(n schema.Null[string]) string {
	if !n.OK || strings.TrimSpace(n.V) == "" {
		return ""
	}
	return clean(n.V, nameRunes)
}

func applicationsTable(d *Document) table {
	l := d.Trust.Applications
	t := table{ID: "applications", Caption: "Applications, the one that lost most first", More: l.More(), SQL: l.SQL, Empty: l.Note,
		Columns: []column{{Title: "Application", Essential: true}, {Title: "Framework"},
			{Title: "Started"}, {Title: "Jobs", Number: true}, {Title: "Attempts", Number: true},
			{Title: "Job time", Doc: "completion times of its jobs, summed", Number: true, Essential: true},
			{Title: "Lost", Doc: "how much earlier its jobs would have ended had slow tasks taken their phase's median", Number: true, Essential: true},
			{Title: "Share", Doc: "lost / job time", Number: true, Essential: true},
			{Title: "Log", Doc: "whether the log holds the application from start to end"}}}
	for _, a := range l.Rows {
		whole := "complete"
		if !a.Complete {
			whole = "incomplete"
		}
		fw := clean(a.Framework, 24)
		if a.FrameworkVersion.OK {
			fw += " " + clean(a.FrameworkVersion.V, 24)
		}
		t.Rows = append(t.Rows, row{App: name(a.NativeID), Causes: partCauses(a.Loss.Parts), Cells: []cell{
			{Text: name(a.NativeID), Sub: named(a.Name)}, text(fw),
			{Text: null(a.StartTime, func(s schema.Time) string { return instant(s, a.TimeOrigin) }), Sort: strconv.FormatInt(int64(a.StartTime.V), 10), Note: unless(a.StartTime.OK, "the log does not say")},
			number(a.Jobs), number(a.Attempts), figure(a.Loss.CompletionS, seconds, a.Loss.Note), figure(a.Loss.LostS, seconds, a.Loss.Note),
			figure(a.Loss.LostShare, percent, a.Loss.Note), {Text: whole, Sub: clean(a.SourceFile, nameRunes)}}})
	}
	return t
}

func caveatsTable(d *Document) table {
	l := d.Trust.Caveats
	t := table{ID: "caveats", Caption: "Caveats that the logs carry", More: l.More(), SQL: l.SQL, Empty: l.Note,
		Columns: []column{{Title: "Caveat", Essential: true}, {Title: "Applications", Number: true}, {Title: "Count", Doc: "rows or events concerned", Number: true}, {Title: "What it means", Essential: true}}}
	for _, c := range l.Rows {
		detail := clean(c.Detail, textRunes)
		if c.Applications > 1 && c.Count.OK {
			detail = "for example: " + detail
		}
		t.Rows = append(t.Rows, row{Cells: []cell{text(clean(c.Code, 40)), number(c.Applications), nullNumber(c.Count, "it concerns the whole log"), text(detail)}})
	}
	if d.Trust.Applications.Total == 1 {
		t.drop("Applications")
	}
	return t
}

func rejectsTable(d *Document) table {
	l := d.Trust.Rejects
	t := table{ID: "rejects", Caption: "Records that could not be used", More: l.More(), SQL: l.SQL, Empty: l.Note,
		Columns: []column{{Title: "File", Essential: true}, {Title: "Line", Number: true, Essential: true}, {Title: "Byte", Number: true}, {Title: "Reason", Essential: true}, {Title: "Sample"}}}
	for _, r := range l.Rows {
		t.Rows = append(t.Rows, row{Cells: []cell{text(name(r.SourceFile)), nullNumber(r.Line, "the file has no lines"), number(r.ByteOffset),
			text(clean(r.Reason, textRunes)), text(clean(r.Sample, nameRunes))}})
	}
	return t
}

func ingestsTable(d *Document) table {
	l := d.Trust.Ingests
	t := table{ID: "ingests", Caption: "Ingests", More: l.More(), SQL: l.SQL, Empty: l.Note,
		Columns: []column{{Title: "Ingest", Essential: true}, {Title: "Format", Essential: true}, {Title: "Files", Number: true}, {Title: "Bytes", Number: true, Essential: true},
			{Title: "Records", Number: true, Essential: true}, {Title: "Rejects", Number: true, Essential: true}, {Title: "Version"}}}
	for _, i := range l.Rows {
		t.Rows = append(t.Rows, row{Cells: []cell{text(clean(i.IngestID, 40)), text(clean(i.Format, 40)), number(i.Files),
			{Text: byteSize(float64(i.Bytes)), Sort: strconv.FormatInt(i.Bytes, 10)}, number(i.RowsIn), number(i.Rejects), text(clean(i.ToolVersion, 24))}})
	}
	return t
}

func causesTable(d *Document) table {
	t := table{ID: "causes", Caption: "Causes, over all jobs", Empty: noOutliers(d.Phases.Total, d.Trust.Counts.Outliers),
		Columns: []column{{Title: "Cause", Essential: true}, {Title: "Outliers", Doc: "attempts of which it is the verdict", Number: true, Essential: true},
			{Title: "Job time lost", Doc: "its part of the time that jobs lost; the parts sum to the whole", Number: true, Essential: true},
			{Title: "Excess", Doc: "seconds beyond the median that it accounts for, over all slots, also where no job waited", Number: true, Essential: true},
			{Title: "Without it", Doc: "how much earlier jobs would have ended without it, replayed; causes overlap, so these do not sum", Number: true}}}
	if d.Cost.TogetherS.OK {
		t.After = "Without any of them jobs would have ended " + seconds(d.Cost.TogetherS.V) + " earlier, replayed all at once; one by one they sum to " + seconds(sumOfCosts(d)) +
			": to less where causes hide behind one another, to more where they share what they delay."
	}
	for _, c := range d.Cost.Causes {
		replay := figure(c.CostS, seconds, "no replay of the jobs without this cause in the store")
		replay.Sub = interval(c.CostLow, c.CostHigh, seconds)
		info := infoOf(c.Cause)
		title := cell{Text: info.Title, Cause: c.Cause, Keyed: true, Sub: info.Doc}
		outliers := number(c.Outliers)
		excess := figure(schema.Some(c.SumS), seconds, "")
		if c.Cause == notOutlier {
			outliers, excess = cell{Text: dash, Note: info.Doc}, cell{Text: dash, Note: info.Doc}
			replay.Note = info.Doc
		}
		t.Rows = append(t.Rows, row{Causes: []schema.Cause{c.Cause}, Cells: []cell{title, outliers,
			figure(c.LostS, seconds, "no phase statistics"), excess, replay}})
	}
	return t
}

func sumOfCosts(d *Document) (sum float64) {
	for _, c := range d.Cost.Causes {
		sum += c.CostS.V
	}
	return sum
}

func jobsTable(d *Document) table {
	l := d.Cost.Jobs
	t := table{ID: "jobs", Caption: "Jobs, the one that lost most first", More: l.More(), SQL: l.SQL, Empty: l.Note,
		Columns: []column{{Title: "Job", Essential: true}, {Title: "Application"}, {Title: "Tasks", Number: true},
			{Title: "Took", Doc: "submission to finish", Number: true, Essential: true},
			{Title: "Lost", Doc: "how much earlier it would have ended had slow tasks taken their phase's median", Number: true, Essential: true},
			{Title: "Share", Doc: "lost / took", Number: true, Essential: true},
			{Title: "By cause", Doc: "what the lost time went to; the bars of all jobs share one scale", Essential: true},
			{Title: "Outliers", Number: true}}}
	widest := 0.0
	for _, j := range l.Rows {
		widest = max(widest, j.Loss.LostS.Or(0))
	}
	for _, j := range l.Rows {
		t.Rows = append(t.Rows, row{App: name(j.Application), Causes: partCauses(j.Loss.Parts), Cells: []cell{
			{Text: jobTitle(j.NativeID), Sub: named(j.Name)}, text(name(j.Application)), number(j.Tasks),
			figure(j.Loss.CompletionS, seconds, j.Loss.Note), figure(j.Loss.LostS, seconds, j.Loss.Note), figure(j.Loss.LostShare, percent, j.Loss.Note),
			{Text: partsText(j.Loss.Parts), Parts: j.Loss.Parts, Whole: widest, Sort: strconv.FormatFloat(j.Loss.LostS.V, 'g', 9, 64), Note: j.Loss.Note},
			number(j.Loss.Outliers)}})
	}
	if d.Trust.Applications.Total == 1 {
		t.drop("Application")
	}
	return t
}

func phasesTable(d *Document) table {
	l := d.Phases
	t := table{ID: "phases", Caption: "Phases, the one that cost its job most first", More: l.More(), SQL: l.SQL, Empty: l.Note,
		Columns: []column{{Title: "Phase", Essential: true}, {Title: "Job"}, {Title: "Tasks", Number: true},
			{Title: "Median", Number: true, Essential: true}, {Title: "Slowest", Number: true, Essential: true},
			{Title: "Slowdown", Doc: "median progress rate / slowest progress rate", Number: true},
			{Title: "Outliers", Doc: "tasks longer than 1.5 × the median", Number: true},
			{Title: "Phase lost", Doc: "how much earlier it would have ended with every task at most the median", Number: true},
			{Title: "Cost its job", Doc: "its part of the time that its job lost; 0 off the critical path", Number: true, Essential: true}}}
	for _, p := range l.Rows {
		note := clean(p.Note.V, textRunes)
		slow := figure(p.SlowdownRatio, times, note)
		if p.SlowdownBasis.OK {
			slow.Sub = "by " + string(p.SlowdownBasis.V)
		}
		t.Rows = append(t.Rows, row{App: name(p.Application), Causes: partCauses(p.Parts), Cells: []cell{
			{Text: phaseTitle(p.NativeID, p.Attempt), Sub: named(p.Name)}, {Text: jobTitle(p.Job), Sub: appOf(d, p.Application)}, number(p.Tasks),
			figure(p.MedianS, seconds, note), figure(p.MaxS, seconds, note), slow, nullNumber(p.Outliers, note),
			figure(p.LostS, seconds, note), figure(p.CostS, seconds, note)}})
	}
	return t
}

func outliersTable(d *Document) table {
	l := d.Outliers
	t := table{ID: "outliers", Caption: "Outliers, the one that cost its job most first", More: l.More(), SQL: l.SQL, Empty: l.Note,
		Columns: []column{{Title: "#", Number: true}, {Title: "Cost its job", Doc: "its share of the time that its job lost; the shares of all tasks sum to it", Number: true, Essential: true},
			{Title: "Took", Doc: "duration, and how many times its phase's median that is", Number: true, Essential: true},
			{Title: "Cause", Doc: "the verdict: where most of its excess went", Essential: true}, {Title: "Where", Essential: true}, {Title: "Why", Essential: true, Below: true}}}
	for i, o := range l.Rows {
		took := figure(o.DurationS, seconds, "the log does not say when it ended")
		if o.Ratio.OK {
			took.Sub = times(o.Ratio.V) + " median"
		}
		cost := figure(o.CostS, seconds, "no phase statistics")
		if !o.Critical {
			cost.Note = "its phase is not on the job's critical path"
		}
		cause := cell{Text: infoOf(o.Cause).Title, Cause: o.Cause, Keyed: true}
		if o.Confidence.OK {
			cause.Sub = percent(o.Confidence.V) + " sure"
		}
		t.Rows = append(t.Rows, row{ID: fmt.Sprintf("outlier-%d", i+1), App: name(o.Application), Machine: named(o.Machine), Causes: []schema.Cause{o.Cause},
			Cells: []cell{number(int64(i + 1)), cost, took, cause, {Text: where(&o), Sub: strings.Join(nonEmpty(named(o.Machine), appOf(d, o.Application)), " · ")}, text(o.Words)}})
	}
	return t
}

func machinesTable(d *Document) table {
	l := d.Machines.List
	t := table{ID: "machines", Caption: "Machines, bad ones first", More: l.More(), SQL: l.SQL, Empty: l.Note,
		Columns: []column{{Title: "Machine", Essential: true}, {Title: "Verdict", Essential: true},
			{Title: "Factor", Doc: "time relative to prediction: 1 = like the others", Number: true, Essential: true},
			{Title: "95 % interval", Number: true, Essential: true}, {Title: "Attempts", Doc: "attempts that speak for it", Number: true}, {Title: "Phases", Doc: "phases that speak for it", Number: true},
			{Title: "Outliers", Doc: "share of its attempts that are outliers", Number: true}, {Title: "Outputs lost", Number: true},
			{Title: "Cost jobs", Doc: "part of the time that jobs lost that goes to this machine being slow", Number: true, Essential: true},
			{Title: "Why", Doc: "why the verdict is what the factor and its interval alone do not say", Below: true}}}
	why := false
	for _, m := range l.Rows {
		verdict := cell{Text: string(m.Verdict)}
		if m.Windows > 1 {
			verdict.Sub = fmt.Sprintf("in %s of %s windows", count(m.BadWindows), count(m.Windows))
			if m.Course.OK {
				verdict.Sub += ", " + clean(m.Course.V, 24)
			}
		}
		if m.Note.OK && badVerdict(m.Verdict) {
			verdict.Note = clean(m.Note.V, textRunes)
			why = why || verdict.Note != ""
		}
		factor := figure(m.Factor, times, "too few attempts to say")
		span := cell{Text: interval(m.FactorLow, m.FactorHigh, times), Sort: factor.Sort}
		if span.Text == "" {
			span = cell{Text: dash, Note: "too few attempts to say"}
		}
		t.Rows = append(t.Rows, row{Machine: name(m.Machine), Cells: []cell{{Text: name(m.Machine), Sub: named(m.Rack)}, verdict, factor, span,
			number(m.Attempts), number(m.Phases), figure(m.OutlierRate, percent, "not counted"), number(m.Losses), figure(m.CostS, seconds, "no phase statistics"), text(verdict.Note)}})
	}
	if !why {
		t.drop("Why")
	}
	return t
}

func savingsTable(d *Document) table {
	l := d.Whatif.Savings
	t := table{ID: "savings", Caption: "Policies by what they would have saved, then bounds", More: l.More(), SQL: l.SQL, Empty: l.Note,
		Columns: []column{{Title: "Policy", Essential: true}, {Title: "Saving", Doc: "job time saved over all jobs, mean over the seeds, with its 95 % interval", Number: true, Essential: true},
			{Title: "Interval", Doc: "the saving with its 95 % interval; the shaded band is what the replay itself is wrong by", Essential: true},
			{Title: "Share", Doc: "of the replayed job time", Number: true, Essential: true},
			{Title: "Small jobs", Doc: "share saved of the time of jobs of at most ten tasks", Number: true},
			{Title: "Slot time", Doc: "change of the slot time used", Number: true, Essential: true},
			{Title: "Copies", Doc: "copies launched, and those that finished first, means over the seeds", Number: true}, {Title: "Verdict"}}}
	small := false
	var idle []string
	for i := range l.Rows {
		s := &l.Rows[i]
		title, sub := policyTitle(s)
		if s.Verdict == "changes nothing" {
			idle = append(idle, strings.TrimSpace(title+" "+after("(", sub)+unless(sub == "", ")")))
			continue
		}
		small = small || s.SmallJobs > 0
		saving := figure(s.SavingS, seconds, "cannot tell")
		saving.Sub = interval(s.SavingLow, s.SavingHigh, seconds)
		copies := figure(s.Copies, func(v float64) string { return count(int64(v + 0.5)) }, "not counted")
		if s.Copies.V > 0 && s.Wins.OK {
			copies.Sub = count(int64(s.Wins.V+0.5)) + " won"
		}
		t.Rows = append(t.Rows, row{Cells: []cell{{Text: title, Sub: sub}, saving, {Text: saving.Sub, Sort: saving.Sort, Saving: s}, figure(s.SavingShare, percent, "cannot tell"),
			figure(s.SmallSavingShare, percent, "no small jobs"), figure(s.SlotTimeChange, percent, "cannot tell"), copies, text(s.Verdict)}})
	}
	if !small {
		t.drop("Small jobs")
	}
	twins(t.Rows)
	switch {
	case len(idle) > 0 && len(t.Rows) > 0:
		t.After = "Changed nothing here: " + join(idle) + "."
	case len(idle) > 0:
		t.Empty = "No policy changes anything here: not " + join(idle) + "."
	}
	return t
}

// twins marks the rows whose first cells have the same text.
func twins(rows []row) {
	n := map[string]int{}
	for _, r := range rows {
		n[r.Cells[0].Text]++
	}
	for _, r := range rows {
		r.Cells[0].Twin = n[r.Cells[0].Text] > 1 && r.Cells[0].Sub != ""
	}
}

// partsText says in words what a stacked bar shows, the largest parts first; parts under a hundredth go together.
func partsText(parts []LostPart) string {
	sorted := slices.Clone(parts)
	slices.SortStableFunc(sorted, func(a, b LostPart) int { return -cmp.Compare(a.LostS, b.LostS) })
	whole, rest := 0.0, 0.0
	for _, p := range parts {
		whole += p.LostS
	}
	var words []string
	for _, p := range sorted {
		if p.LostS < 0.01*whole {
			rest += p.LostS
		} else if p.LostS > 0 {
			words = append(words, infoOf(p.Cause).Title+" "+seconds(p.LostS))
		}
	}
	if rest > 0 {
		words = append(words, "others "+seconds(rest))
	}
	if len(words) == 0 {
		return dash
	}
	return strings.Join(words, ", ")
}

func partCauses(parts []LostPart) []schema.Cause {
	var cs []schema.Cause
	for _, p := range parts {
		if p.LostS > 0 {
			cs = append(cs, p.Cause)
		}
	}
	return cs
}

// jobTitle names a job; native ids that say what they are are left as they are.
func jobTitle(native string) string {
	if strings.HasPrefix(native, "job") {
		return name(native)
	}
	return "job " + name(native)
}

// phaseTitle names a phase by its native id and re-submission.
func phaseTitle(native string, attempt int32) string {
	if attempt == 0 {
		return "phase " + name(native)
	}
	return fmt.Sprintf("phase %s, re-submission %d", name(native), attempt)
}

// where is how a user finds an attempt in the framework's own pages.
func where(o *Outlier) string {
	return fmt.Sprintf("%s, phase %s.%d, task %d.%d (id %s)", jobTitle(o.Job), name(o.Phase), o.PhaseAttempt, o.Task, o.Number, name(o.NativeID))
}

func unless(ok bool, note string) string {
	if ok {
		return ""
	}
	return note
}

// appOf names an application where there are several: by the name that its user gave it, if it is listed and has one.
func appOf(d *Document, native string) string {
	if d.Trust.Applications.Total == 1 {
		return ""
	}
	for i := range d.Trust.Applications.Rows {
		if a := &d.Trust.Applications.Rows[i]; a.NativeID == native && named(a.Name) != "" {
			return named(a.Name)
		}
	}
	return name(native)
}
