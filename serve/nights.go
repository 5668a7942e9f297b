package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"straggler/audit"
	"straggler/audit/measure"
	"straggler/report/html"
	"straggler/report/prose"
	"straggler/schema"
	"straggler/serve/api"
	"straggler/serve/catalog"
	"straggler/stats"
)

// This file audits every day of the store: how long each program took, and what was found.

// nightHistory is the audit of each of the last days of the store.
type nightHistory struct {
	nights []*audit.Night // the newest last
	times  *heatTable     // programs by nights; nil for none that was compared with an earlier run
}

// nights returns the last mostPeriods days of the store, and whether they are up to date.
func (s *Server) nights(ctx context.Context) (*nightHistory, bool, error) {
	return catalog.OfRuns(ctx, s.c, "nights", func(ctx context.Context, runs []measure.Run, tasks catalog.Tasks) (*nightHistory, error) {
		cfg := audit.DefaultConfig()
		nights, err := audit.Nights(ctx, runs, tasks, cfg, mostPeriods)
		if err != nil {
			return nil, err
		}
		return &nightHistory{nights, timesByNight(nights, runs, cfg)}, nil
	})
}

func nightAddress(day string) string { return "/audit/" + url.PathEscape(day) }

// nightLead explains how a night is judged.
const nightLead = "as straggler audit does at the end of each day (UTC) with a baseline: the last run of each program is compared with its runs before, and findings in those do not count as normal"

// writeNights draws the nights and lists them. It writes nothing if there is only one.
func (s *Server) writeNights(ctx context.Context, w io.Writer) error {
	h, current, err := s.nights(ctx)
	if errors.Is(err, catalog.ErrBuilding) {
		return nil
	}
	if err != nil || len(h.nights) < 2 {
		return err
	}
	writeAge(w, current)
	if h.times != nil {
		if err := templates.ExecuteTemplate(w, "heat-table", h.times); err != nil {
			return err
		}
	}
	l := &listing{ID: "nights", Caption: "Nights, the latest first",
		Columns: []column{{Title: "Night"}, {Title: "Programs", Doc: "of which a run was judged", Number: true},
			{Title: "New", Doc: "findings that the night before did not have", Number: true},
			{Title: "Ongoing", Doc: "findings that were open already", Number: true},
			{Title: "Fixed", Doc: "findings of before that are gone", Number: true},
			{Title: "Learning", Doc: "findings compared with too few runs", Number: true}}}
	var found []barValue
	for _, n := range slices.Backward(h.nights) {
		row := []cell{{Text: n.Date, Href: nightAddress(n.Date)}, {Text: prose.Count(int64(len(n.Runs)))}}
		for _, status := range []audit.Status{audit.New, audit.Ongoing, audit.Fixed, audit.Learning} {
			row = append(row, cell{Text: prose.Count(int64(n.Summary[status]))})
		}
		l.Rows = append(l.Rows, row)
		open := n.Summary[audit.New] + n.Summary[audit.Ongoing]
		found = append(found, barValue{n.Date, prose.Plural(int64(open), "finding", "findings"), schema.Some(float64(open))})
	}
	l.label()
	if err := writeSection(w, "nights", "Every night", l); err != nil {
		return err
	}
	if c := drawBars("New and ongoing findings by night", found); c != nil {
		return templates.ExecuteTemplate(w, "chart", c)
	}
	return nil
}

// nightPage shows the findings of one day.
func (s *Server) nightPage(w http.ResponseWriter, r *http.Request) {
	day := r.PathValue("day")
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		s.fail(w, r, fmt.Errorf("%w: a night is a day such as 2026-11-20", api.ErrAddress))
		return
	}
	s.write(w, r, page{Title: "Audit of " + day, Crumbs: []link{{"Audit", "/audit"}}}, func(ctx context.Context, w io.Writer) error {
		writeTitle(w, "Audit of "+day)
		h, current, err := s.nights(ctx)
		if err != nil {
			return err
		}
		writeAge(w, current)
		at, ok := slices.BinarySearchFunc(h.nights, day, func(n *audit.Night, day string) int { return strings.Compare(n.Date, day) })
		if !ok {
			return writeLead(w, fmt.Sprintf("No run of the last %d days with runs began on it.", mostPeriods))
		}
		writeLead(w, "Judged "+nightLead+".")
		var beside []link
		if at > 0 {
			beside = append(beside, link{"The night before", nightAddress(h.nights[at-1].Date)})
		}
		if at+1 < len(h.nights) {
			beside = append(beside, link{"The night after", nightAddress(h.nights[at+1].Date)})
		}
		writeLinks(w, beside...)
		return s.writeNight(w, h.nights[at], "last runs of the day")
	})
}

// programNights is the history of a program.
type programNights struct {
	name  string
	found int     // findings that fail a build
	worst float64 // ratio
	cells map[string]heatCell
}

// timesByNight returns a heat map of the time that the judged run of each program took each night, or nil if no run was compared
// with an earlier one.
func timesByNight(nights []*audit.Night, runs []measure.Run, cfg *audit.Config) *heatTable {
	byName := map[string]*programNights{}
	usual := usualTimes(runs, cfg.History)
	for _, n := range nights {
		for i := range n.Runs {
			j := &n.Runs[i]
			p := byName[j.Group]
			if p == nil {
				p = &programNights{name: j.Group, cells: map[string]heatCell{}}
				byName[p.name] = p
			}
			p.add(n.Date, j, usual[(&measure.Run{Group: j.Group, Start: j.Start, ID: j.Run}).Key()], cfg)
		}
	}
	all := slices.DeleteFunc(slices.Collect(maps.Values(byName)), func(p *programNights) bool { return p.worst == 0 && p.found == 0 })
	if len(all) == 0 || len(nights) < 2 {
		return nil
	}
	slices.SortFunc(all, func(a, b *programNights) int {
		return cmp.Or(cmp.Compare(b.found, a.found), cmp.Compare(b.worst, a.worst), strings.Compare(a.name, b.name))
	})
	return pictureOf(nights, all)
}

// add adds the run of a night that was judged.
func (p *programNights) add(night string, j *audit.Judgement, t runTime, cfg *audit.Config) {
	c := heatCell{Class: "none", Text: prose.Dash, Note: "no earlier run, or the log does not say how long it took"}
	if t.ratio > 0 {
		c = heatCell{Class: html.HeatClass(t.ratio), Text: html.HeatText(t.ratio), Note: prose.Seconds(t.took) + ", " +
			prose.Times(t.ratio) + " the median of its runs before"}
		p.worst = max(p.worst, t.ratio)
	}
	found := 0
	for k := range j.Findings {
		if j.Findings[k].Fails(cfg) {
			found++
		}
	}
	if p.found += found; found > 0 {
		c.Class += " bad"
		c.Note += "; " + prose.Plural(int64(found), "finding", "findings")
	}
	p.cells[night] = c
}

// pictureOf draws the first mostDrawn programs.
func pictureOf(nights []*audit.Night, all []*programNights) *heatTable {
	t := &heatTable{ID: "times", Of: "Program", Title: "Programs by night",
		Lead: "How many times as long the run took as the median of the program's runs before; framed where the audit of that night found what fails a build. Each night was judged " + nightLead + ". The programs with most findings come first; a click on a date shows the night."}
	days, dates := make([]time.Time, len(nights)), make([]string, len(nights))
	for i, n := range nights {
		dates[i] = n.Date
		days[i], _ = time.Parse(time.DateOnly, n.Date)
	}
	layout := dayLayout(days[0], days[len(days)-1])
	for i, date := range dates {
		t.Columns = append(t.Columns, cell{Text: days[i].Format(layout), Note: "The night of " + date, Href: nightAddress(date)})
	}
	for _, p := range all[:min(len(all), mostDrawn)] {
		t.Rows = append(t.Rows, newHeatLine(prose.Clean(prose.Name(p.name), 28), "/?q="+url.QueryEscape(prose.Clean(p.name, prose.NameRunes)), dates, p.cells))
	}
	if left := len(all) - mostDrawn; left > 0 {
		t.More = prose.Upper(prose.Plural(int64(left), "program", "programs")) + " more: the page of a night has them."
	}
	return t
}

// runTime is the time that a run took, in seconds, and its ratio to the median of the program's earlier runs; 0 if unknown.
type runTime struct{ took, ratio float64 }

// usualTimes returns the runTime of each run, by its key, relative to at most history earlier runs.
func usualTimes(runs []measure.Run, history int) map[string]runTime {
	out := make(map[string]runTime, len(runs))
	var before []float64
	for i := range runs {
		r := &runs[i]
		if i > 0 && runs[i-1].Group != r.Group {
			before = nil
		}
		took, ok := r.Values["time_s"]
		if !ok {
			continue
		}
		t := runTime{took: took}
		if last := before[max(0, len(before)-history):]; len(last) > 0 {
			if m := stats.Median(slices.Clone(last)); m > 0 {
				t.ratio = took / m
			}
		}
		out[r.Key()] = t
		before = append(before, took)
	}
	return out
}
