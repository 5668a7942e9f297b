package report

import (
	"context"
	"errors"
	"fmt"

	"straggler/engine"
	"straggler/schema"
	"straggler/selection"
)

// Options are the options of Build.
type Options struct {
	Store string                 // directory of the store, for the commands that the report shows; empty where it is temporary
	Apps  selection.Applications // those to report on
	Scope Scope                  // or by its key, or on a part of it
	Top   int                    // outliers listed; 0 is 50, at most 200

	Replayed *Replayed     // a job before and after a policy, for a picture; nil for none
	Savings  []SavingRow   // what policies save on the applications that are meant; nil: those of the store, which are over all
	Papers   []PaperFigure // the papers' figures, to be shown at the end; nil for none
}

// How many rows of each kind a document holds. They bound the size of every rendering.
const (
	topOutliers  = 50
	mostOutliers = 200
	topPhases    = 20
	topJobs      = 40
	topApps      = 12
	topMachines  = 60
	topTimelines = 5
)

// Build makes the document from the tables of a store on which detect and causes have run. It creates session tables named
// report_… in the engine, so an engine serves one Build at a time.
func Build(ctx context.Context, eng engine.Engine, o Options) (*Document, error) {
	if o.Top <= 0 {
		o.Top = topOutliers
	}
	o.Top = min(o.Top, mostOutliers)
	b := &builder{ctx: ctx, eng: eng, o: o, doc: &Document{Store: o.Store, Papers: o.Papers}, apps: topApps, copied: copiedAttempts}
	return b.build()
}

func (b *builder) build() (_ *Document, err error) {
	defer func() { err = errors.Join(err, b.unrestrict()) }()
	for _, step := range b.steps() {
		if err := step.do(); err != nil {
			return nil, fmt.Errorf("report: %s: %w", step.what, err)
		}
	}
	b.summarize()
	return b.doc, nil
}

// step fills a part of the document.
type step struct {
	what string
	do   func() error
}

// steps returns the steps for the requested document, each after those that it needs.
func (b *builder) steps() []step {
	selected := []step{{"what the document is about", b.resolve}, {"its rows", b.restrict},
		{"selecting applications", b.selectRows}, {"adding up losses", b.losses}}
	if b.o.Scope.Query != 0 {
		return append(selected, step{"the query", b.queries})
	}
	if b.o.Scope.narrow() {
		return append(selected, step{"counts", b.scopedCounts}, step{"its application", b.applications}, step{"jobs", b.jobs},
			step{"phases", b.phases}, step{"outliers", b.outliers},
			step{"timelines", b.timelines})
	}
	return append(selected, step{"what was read", b.trust}, step{"slow runs", b.history}, step{"jobs", b.jobs},
		step{"queries", b.queries}, step{"phases", b.phases},
		step{"outliers", b.outliers}, step{"machines", b.machines}, step{"what comes back", b.repeats},
		step{"timelines", b.timelines}, step{"replays of policies", b.whatif}, step{"settings", b.readFacts})
}

// builder holds the state of Build.
type builder struct {
	ctx   context.Context
	eng   engine.Engine
	o     Options
	doc   *Document
	apps  int // applications listed
	sums  *sums
	facts facts

	seen   []engine.Seen // of large tables, what the document is about; none where it is about the whole store
	copied int64         // up to how many attempts are copied for it
}

// selectRows creates the session tables that restrict the queries.
func (b *builder) selectRows() error {
	if key := b.o.Scope.Application; key != 0 {
		if err := b.pick("report_apps", "application_id", []schema.Key{key}); err != nil {
			return err
		}
	} else if err := SelectApplications(b.ctx, b.eng, b.o.Apps); err != nil {
		return err
	}
	if err := b.keep("report_beaten", "beaten"); err != nil {
		return err
	}
	return b.keep("report_redone", "redone") // the phases that only make lost outputs again
}

// SelectApplications creates the session table report_apps: the applications that a report is about.
func SelectApplications(ctx context.Context, eng engine.Engine, apps selection.Applications) error {
	if apps.All() {
		return eng.Materialize(ctx, "report_apps", "SELECT application_id FROM applications")
	}
	keys, err := apps.Keys(ctx, eng)
	if err != nil {
		return err
	}
	return eng.Materialize(ctx, "report_apps", keyTable("application_id", keys))
}
