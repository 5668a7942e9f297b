// Package analysis takes a store of log tables and brings its results up to date: outliers, their causes, the slow phases of
// queries, and the savings of policies. From these it builds the Document of a report.
//
// Start with Open and Update.
package analysis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"straggler/causes"
	"straggler/detect"
	"straggler/engine"
	"straggler/plans"
	"straggler/report"
	"straggler/selection"
	"straggler/store"
	"straggler/whatif"
)

// Options configure Update.
type Options struct {
	Tool    string                          // version of straggler; results of another one are computed again
	Explain bool                            // replay no policies, since that takes all applications
	Step    func(what string) (done func()) // called before each step that runs; may be nil
}

// mostOpened bounds how often Open starts. It is an estimate: each time only the logs that came meanwhile are new, and on a
// cluster each time takes minutes.
const mostOpened = 5

// Open opens an engine over a store and brings the results up to date with Update. If logs come or go meanwhile, or another
// process writes results, it starts again with what is there then, so that all results are those of the same logs. In a store
// that changes faster than its logs are analysed, the results of the last time may lack the newest logs.
func Open(ctx context.Context, st *store.Store, open func() (engine.Engine, error), o Options) (engine.Engine, *whatif.Summary, error) {
	var failed error
	for n := range mostOpened {
		eng, replays, changed, err := openOnce(ctx, st, open, o, n == mostOpened-1)
		if !changed {
			return eng, replays, err
		}
		failed = err
	}
	err := fmt.Errorf("%w, %d times, while its logs were analysed: try again when fewer logs are written", store.ErrConflict, mostOpened)
	return nil, nil, errors.Join(err, failed)
}

// openOnce tries what Open does. changed reports whether the store was changed meanwhile; an error is then probably due to that,
// even if it is not store.ErrConflict: copies on a cluster report errors as text. The last time, results that lack newer logs are
// a success. Unless it succeeds it closes the engine, also if a step panics, which a server survives.
func openOnce(ctx context.Context, st *store.Store, open func() (engine.Engine, error), o Options, last bool) (
	eng engine.Engine, replays *whatif.Summary, changed bool, err error) {
	began, err := st.State(ctx)
	if err != nil {
		return nil, nil, false, err
	}
	opened, err := open()
	if err == nil {
		defer func() {
			if eng == nil {
				err = errors.Join(err, opened.Close())
			}
		}()
		replays, err = Update(ctx, st, opened, o)
	}
	ended, unknown := st.State(ctx)
	changed = errors.Is(err, store.ErrConflict) || unknown == nil && ended != began
	if err = cmp.Or(err, unknown); err == nil && (last || !changed) {
		return opened, replays, false, nil
	}
	return nil, nil, changed, err
}

// Update runs the steps whose results are missing or come from an earlier state of the logs or another version of straggler,
// and all steps after them, which read their results. If policies were replayed, it returns their summary, for Report.
func Update(ctx context.Context, st *store.Store, eng engine.Engine, o Options) (*whatif.Summary, error) {
	u := &update{ctx: ctx, st: st, eng: eng, tool: o.Tool}
	steps := []step{{store.Detect, "finding outliers", u.detect}, {store.Causes, "finding causes", u.causes}, {store.Plans, "reading plans", u.plans}}
	if !o.Explain {
		steps = append(steps, step{store.Whatif, "replaying policies", u.whatif})
	}
	ran := false
	for _, s := range steps {
		fresh, err := isFresh(ctx, st, s.kind, o.Tool)
		if err != nil {
			return nil, err
		}
		if fresh && !ran {
			continue
		}
		ran = true
		done := func() {}
		if o.Step != nil {
			done = o.Step(s.what)
		}
		err = s.run()
		done()
		if err != nil {
			return nil, err
		}
	}
	return u.replays, nil
}

// step computes the results of one kind.
type step struct {
	kind store.Kind
	what string
	run  func() error
}

// update holds what the steps share.
type update struct {
	ctx     context.Context
	st      *store.Store
	eng     engine.Engine
	tool    string
	replays *whatif.Summary // nil if there were none
}

func (u *update) detect() error {
	_, err := detect.Run(u.ctx, u.st, u.eng, detect.Options{Tool: u.tool})
	return err
}

func (u *update) causes() error {
	_, err := causes.Run(u.ctx, u.st, u.eng, causes.Options{Tool: u.tool})
	return err
}

func (u *update) plans() error {
	_, err := plans.Run(u.ctx, u.st, u.eng, plans.Options{Tool: u.tool})
	return err
}

func (u *update) whatif() error {
	o, err := whatif.Brief(u.ctx, u.eng, selection.Applications{})
	if err != nil {
		return err
	}
	o.Tool = u.tool
	s, err := whatif.Run(u.ctx, u.st, u.eng, o)
	if errors.Is(err, whatif.ErrMemory) {
		return nil // the report has no savings; straggler whatif gives the reason
	}
	u.replays = &s
	return err
}

// isFresh reports whether the results of a kind come from the current state of the store's logs and from this version.
func isFresh(ctx context.Context, st *store.Store, kind store.Kind, tool string) (bool, error) {
	c, err := st.Result(ctx, kind)
	if err != nil || c == nil {
		return false, err
	}
	state, err := st.State(ctx)
	return c.State == state && c.Tool == tool, err
}

// Report builds the Document of a store that is up to date, with the papers' figures and the job that gains most from a policy;
// last is the summary from Update. For a report on some of the applications, policies are replayed on these alone, and the
// store needs no replays (Options.Explain).
func Report(ctx context.Context, st *store.Store, eng engine.Engine, last *whatif.Summary, o report.Options) (*report.Document, error) {
	var err error
	if o.Apps.All() {
		o.Replayed, err = replayed(ctx, eng, last)
	} else if _, err = o.Apps.Keys(ctx, eng); err == nil {
		err = replay(ctx, st, eng, &o)
	}
	if err != nil {
		return nil, err
	}
	if o.Papers, err = paperFigures(ctx, eng); err != nil {
		return nil, err
	}
	return report.Build(ctx, eng, o)
}

// replay replays the applications of the report.
func replay(ctx context.Context, st *store.Store, eng engine.Engine, o *report.Options) error {
	brief, err := whatif.Brief(ctx, eng, o.Apps)
	if err != nil {
		return err
	}
	s, err := whatif.Try(ctx, st, eng, brief)
	if errors.Is(err, whatif.ErrMemory) {
		o.Savings = []report.SavingRow{}
		return nil // the report has no savings; straggler whatif gives the reason
	}
	if err != nil {
		return err
	}
	o.Savings = savings(&s)
	g, err := s.MostGained(ctx, eng, o.Apps)
	if err == nil && g != nil {
		o.Replayed = pictured(g)
	}
	return err
}

// savings returns the savings of policies over all replayed jobs, as in the table whatif_savings.
func savings(s *whatif.Summary) []report.SavingRow {
	rows := make([]report.SavingRow, 0, len(s.Results))
	for i := range s.Results {
		r := s.Results[i].Row(s)
		rows = append(rows, report.SavingRow{Policy: r.Policy, Parameters: r.Parameters, SavingS: r.SavingS, SavingLow: r.SavingLow, SavingHigh: r.SavingHigh,
			ThisRunLow: r.ThisRunLow, ThisRunHigh: r.ThisRunHigh, SavingShare: r.SavingShare, SlotTimeChange: r.SlotTimeChange,
			Verdict: r.Verdict, Assumptions: r.Assumptions})
	}
	slices.SortFunc(rows, func(a, b report.SavingRow) int {
		return cmp.Or(cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Parameters, b.Parameters))
	})
	return rows
}

// replayed returns the job that gains most from a policy, without and with it; nil if no policy was replayed.
func replayed(ctx context.Context, eng engine.Engine, last *whatif.Summary) (*report.Replayed, error) {
	g, err := whatif.MostGained(ctx, eng, last)
	if err != nil || g == nil {
		return nil, err
	}
	return pictured(g), nil
}

func pictured(g *whatif.Gained) *report.Replayed {
	name := g.Variant.Name
	if changed := g.Variant.Changed(); changed != "" {
		name += " with " + changed
	}
	return &report.Replayed{JobID: g.Job, Policy: name, Before: replayedAttempts(g.Before), After: replayedAttempts(g.After)}
}

func replayedAttempts(bars []whatif.Bar) []report.ReplayedAttempt {
	out := make([]report.ReplayedAttempt, len(bars))
	for i, b := range bars {
		out[i] = report.ReplayedAttempt{
			Phase: b.Phase, Task: int64(b.Task), Machine: b.Machine, Slot: b.Slot, StartS: b.StartS, EndS: b.EndS, Copy: b.Copy, Killed: b.Killed,
		}
	}
	return out
}

func paperFigures(ctx context.Context, eng engine.Engine) ([]report.PaperFigure, error) {
	figures, err := causes.PaperFigures(ctx, eng)
	out := make([]report.PaperFigure, len(figures))
	for i, p := range figures {
		out[i] = report.PaperFigure{Figure: p.Figure, Title: causes.FigureTitle(p.Figure), Series: p.Series, X: p.X, Y: p.Y, N: p.N, Note: p.Note}
	}
	return out, err
}
