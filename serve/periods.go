package serve

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"straggler/report/html"
	"straggler/report/prose"
	"straggler/report/view"
	"straggler/schema"
	"straggler/serve/catalog"
)

// This file shows the health of machines over days or weeks.

// periodRow is the health of a machine in a period of days or weeks, by the runs or the windows of time in which it was judged.
type periodRow struct {
	Machine  string               `col:"machine"`
	Period   int64                `col:"period"`
	Attempts int64                `col:"attempts"`
	Factor   schema.Null[float64] `col:"factor"`
	Judged   int64                `col:"judged"`
	Bad      int64                `col:"bad"`
	Losses   int64                `col:"losses"`
	LostS    schema.Null[float64] `col:"lost_s"`
}

// periods is a division of time into days or weeks.
type periods struct {
	days   int64   // of each
	judged []int64 // the latest in which a machine was judged, in order
}

const (
	// mostDays is the number of days up to which a period is a day; of more days it is a week.
	mostDays = 45
	// mostPeriods bounds the periods that are drawn: the latest, of machine_periods.sql.
	mostPeriods = 60
)

// newPeriods divides the time for which the store has the health of machines; ok is false if that is less than two days.
func (s *Server) newPeriods(ctx context.Context) (p periods, ok bool, err error) {
	rows, err := catalog.Read[struct {
		First schema.Null[schema.Time] `col:"first"`
		Last  schema.Null[schema.Time] `col:"last"`
	}](ctx, s.c, sqlOf("machine_span", 0))
	if err != nil || len(rows) == 0 || !rows[0].First.OK {
		return p, false, err
	}
	p.days = 1
	at := func(t schema.Time) int64 {
		return int64(math.Floor((float64(t)/86400e6 + 3) / float64(p.days)))
	}
	if at(rows[0].Last.V)-at(rows[0].First.V) >= mostDays {
		p.days = 7
	}
	latest, err := catalog.Read[struct {
		Period int64 `col:"period"`
	}](ctx, s.c, p.in(sqlOf("machine_periods", 0)))
	for _, r := range slices.Backward(latest) {
		p.judged = append(p.judged, r.Period)
	}
	return p, at(rows[0].Last.V) > at(rows[0].First.V) && len(p.judged) > 0, err
}

// start returns the first day of a period.
func (p periods) start(n int64) time.Time { return time.Unix((n*p.days-3)*86400, 0).UTC() }

func (p periods) word() string {
	return map[bool]string{true: "day", false: "week"}[p.days == 1]
}

// in fills in the length of a period.
func (p periods) in(sql string) string {
	return strings.ReplaceAll(sql, "{days}", strconv.FormatInt(p.days, 10))
}

// sql returns the query for the machines that satisfy a condition.
func (p periods) sql(where string) string {
	return strings.ReplaceAll(p.in(sqlOf("machine_history", 0)), "{where}", where)
}

// writeHistory draws all machines by periods, those that were bad most often first.
func (s *Server) writeHistory(ctx context.Context, w io.Writer) error {
	all, _, err := s.byPeriod(ctx)
	if err != nil || all == nil {
		return err
	}
	return templates.ExecuteTemplate(w, "heat-table", all.picture)
}

// machinePeriods holds the periods of all machines: the heat map of the worst machines, and the rows.
type machinePeriods struct {
	periods
	picture *heatTable
	rows    map[string][]periodRow // of each machine the last mostPeriods
	left    bool                   // there are more machines than mostPeriodRows have room for
}

// mostPeriodRows bounds the rows to about 30 MB. Other machines are queried when their page is requested.
const mostPeriodRows = 300_000

// keep adds a row of a machine. Rows arrive machine by machine, in order of time.
func (m *machinePeriods) keep(machine string, r *periodRow) {
	of := m.rows[machine]
	if of == nil && len(m.rows) >= mostPeriodRows/mostPeriods {
		m.left = true
		return
	}
	x := *r
	x.Machine = machine
	if of = append(of, x); len(of) > mostPeriods {
		of = slices.Delete(of, 0, 1)
	}
	m.rows[machine] = of
}

// machinesByPeriod reads and draws the periods of all machines. It returns nil if the store has less than two days.
func (s *Server) machinesByPeriod(ctx context.Context) (*machinePeriods, error) {
	p, ok, err := s.newPeriods(ctx)
	if err != nil || !ok {
		return nil, err
	}
	out := &machinePeriods{periods: p, rows: map[string][]periodRow{}}
	sql := p.sql("machine IS NOT NULL")
	byName := map[string]*machineHistory{}
	err = catalog.Each(ctx, s.c, sql, func(r *periodRow) error {
		m := byName[r.Machine]
		if m == nil {
			m = &machineHistory{name: strings.Clone(r.Machine), cells: map[int64]heatCell{}}
			byName[m.name] = m
		}
		out.keep(m.name, r)
		m.bad, m.lost = m.bad+r.Bad, m.lost+r.LostS.V
		if r.Factor.OK {
			m.worst = max(m.worst, r.Factor.V)
		}
		if r.Period >= p.judged[0] {
			m.cells[r.Period] = newPeriodCell(r)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out.picture = p.picture(byName)
	out.picture.Query = newQuery("table", sql)
	return out, nil
}

// picture draws the machines that cost the most time.
func (p periods) picture(machines map[string]*machineHistory) *heatTable {
	all := slices.DeleteFunc(slices.Collect(maps.Values(machines)), func(m *machineHistory) bool { return len(m.cells) == 0 })
	slices.SortFunc(all, func(a, b *machineHistory) int {
		return cmp.Or(cmp.Compare(b.lost, a.lost), cmp.Compare(b.bad, a.bad), cmp.Compare(b.worst, a.worst), strings.Compare(a.name, b.name))
	})
	t := &heatTable{ID: "periods", Of: "Machine", Title: "Machines by " + p.word(),
		Lead: "How many times as long as elsewhere its tasks took, in each " + p.word() +
			", mean over the runs or windows in which it was judged; framed where it was called slow or flaky. The machines that cost most come first."}
	first, last := p.judged[0], p.judged[len(p.judged)-1]
	if int64(len(p.judged)) <= last-first {
		t.Lead += " A " + p.word() + " in which no machine was judged is left out."
	}
	layout := dayLayout(p.start(first), p.start(last))
	for _, n := range p.judged {
		t.Columns = append(t.Columns, cell{Text: p.start(n).Format(layout), Note: prose.Upper(p.word()) + " from " + p.start(n).Format(time.DateOnly)})
	}
	for _, m := range all[:min(len(all), mostDrawn)] {
		t.Rows = append(t.Rows, newHeatLine(prose.Clean(m.name, 28), address(view.Ref{Kind: view.ToMachine, Name: m.name}), p.judged, m.cells))
	}
	if left := len(all) - mostDrawn; left > 0 {
		t.More = prose.Upper(prose.Plural(int64(left), "machine", "machines")) + " more: the query has them."
	}
	return t
}

// machineHistory is all periods of a machine.
type machineHistory struct {
	name        string
	bad         int64
	lost, worst float64
	cells       map[int64]heatCell
}

func newPeriodCell(r *periodRow) heatCell {
	c := heatCell{Class: "none", Text: prose.Dash, Note: "too few attempts to say"}
	if r.Factor.OK {
		c = heatCell{Class: html.HeatClass(r.Factor.V), Text: html.HeatText(r.Factor.V), Note: prose.Times(r.Factor.V) +
			" the others, " + prose.Plural(r.Attempts, "attempt", "attempts")}
	}
	if r.Bad > 0 {
		c.Class += " bad"
		c.Note += "; " + fmt.Sprintf("slow or flaky in %d of %s", r.Bad, prose.Plural(r.Judged, "judgement", "judgements"))
	}
	if r.LostS.V > 0 {
		c.Note += "; it took tasks " + prose.Seconds(r.LostS.V) + " longer"
	}
	return c
}

// periodsOf returns the periods of one machine; ok is false if the store has less than two days.
func (s *Server) periodsOf(ctx context.Context, name string) (p periods, rows []periodRow, ok bool, err error) {
	if all, _, err := catalog.Soon(ctx, s.byPeriod); err == nil && (all == nil || !all.left || all.rows[name] != nil) {
		if all == nil {
			return p, nil, false, nil
		}
		return all.periods, all.rows[name], true, nil
	}
	if p, ok, err = s.newPeriods(ctx); err != nil || !ok {
		return p, nil, false, err
	}
	rows, err = catalog.Read[periodRow](ctx, s.c, p.sql("machine = "+printableText(name)))
	return p, rows[max(0, len(rows)-mostPeriods):], true, err
}

// writeMachineHistory draws one machine by periods.
func (s *Server) writeMachineHistory(ctx context.Context, w io.Writer, r *http.Request, name string) error {
	p, rows, ok, err := s.periodsOf(ctx, name)
	if err != nil || !ok || len(rows) == 0 {
		return err
	}
	sql := p.sql("machine = " + printableText(name))
	l := &listing{ID: "periods", Caption: "By " + p.word(), Query: newQuery("list", sql),
		Columns: []column{{Title: prose.Upper(p.word())},
			{Title: "Factor", Doc: "time relative to prediction: 1 = like the others", Number: true}, {Title: "Attempts", Number: true},
			{Title: "Called bad", Doc: "how often it was called slow or flaky, of how often it was judged", Number: true},
			{Title: "Lost", Doc: "what its being slow took, summed over its tasks", Number: true}, {Title: "Outputs lost", Number: true}}}
	var factors, lost []barValue
	for i := range rows {
		x := &rows[i]
		from := p.start(x.Period).Format(time.DateOnly)
		factors = append(factors, barValue{from, prose.OrDash(x.Factor, prose.Times), x.Factor})
		lost = append(lost, barValue{from, prose.Seconds(x.LostS.V), x.LostS})
		l.Rows = append(l.Rows, []cell{{Text: from}, figure(x.Factor, prose.Times, "too few attempts to say"),
			{Text: prose.Count(x.Attempts)}, {Text: prose.Count(x.Bad) + " of " + prose.Count(x.Judged)},
			{Text: prose.Seconds(x.LostS.V)}, {Text: prose.Count(x.Losses)}})
	}
	slices.Reverse(l.Rows) // the latest first
	l.finish(r, order{}, 0)
	for _, c := range []*barChart{drawBars("Factor by "+p.word()+", 1 = like the others", factors),
		drawBars("What its being slow took its tasks, by "+p.word(), lost)} {
		if c != nil {
			if err := templates.ExecuteTemplate(w, "chart", c); err != nil {
				return err
			}
		}
	}
	return writeSection(w, "periods", "Its history", l)
}
