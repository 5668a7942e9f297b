package view

import (
	"straggler/report"
)

// Section is a part of a document under a heading of its own.
type Section struct {
	ID     string // anchor, unique in the document
	Short  string // its name in the navigation; empty leaves it out
	Title  string
	Blocks []Block
}

// Block is what a section shows: one of the types below, or a Table. A renderer draws the blocks that it supports and omits the
// others, as well as a section of which it could draw only leads. So a picture needs support only in the renderers that draw
// it, and whatever matters in a picture is also in a table.
type Block interface{ block() }

// Blocks of text.
type (
	// Lead explains the blocks that follow.
	Lead string
	// Note is a statement that goes with the figures of its section: every rendering shows it.
	Note string
	// Facts are a few figures, each with its name.
	Facts []Fact
	// List has a title, which may be empty, and items.
	List struct {
		Title string
		Items []string
	}
	// Folded has blocks that a page shows on demand.
	Folded struct {
		Title  string
		Blocks []Block
	}
	// Advice is what to do, as a numbered list.
	Advice []report.Advice
)

// Fact is a figure with its name.
type Fact struct{ Name, Value string }

// Blocks of pictures.
type (
	// PhasePictures draws the durations of the tasks of each phase that lost any time.
	PhasePictures struct {
		Document *report.Document
		Link     func(Ref) string // nil for none
	}
	// PlanPictures draws the plans of the queries that lost most.
	PlanPictures struct{ Document *report.Document }
	// RunHistories are slow runs, drawn among those of their name.
	RunHistories []*report.SlowRun
	// Timelines are shown one at a time.
	Timelines []report.Timeline
	// Replays are a replayed job without and with a policy, one below the other.
	Replays []*report.Timeline
	// HeatMap has the machines in rows and the heaviest phases in columns.
	HeatMap struct{ Document *report.Document }
	// PaperFigures are the papers' figures drawn from the store.
	PaperFigures []report.PaperFigure
	// CompletionTimes, LocalityBars and OverTime are the charts of a simulation.
	CompletionTimes struct{ Simulation *report.Simulation }
	LocalityBars    struct{ Simulation *report.Simulation }
	OverTime        struct{ Simulation *report.Simulation }
)

func (Lead) block()            {}
func (Note) block()            {}
func (Facts) block()           {}
func (List) block()            {}
func (Folded) block()          {}
func (Advice) block()          {}
func (Table) block()           {}
func (PhasePictures) block()   {}
func (PlanPictures) block()    {}
func (RunHistories) block()    {}
func (Timelines) block()       {}
func (Replays) block()         {}
func (HeatMap) block()         {}
func (PaperFigures) block()    {}
func (CompletionTimes) block() {}
func (LocalityBars) block()    {}
func (OverTime) block()        {}

// Sections returns the sections of a report, in reading order. Those that the document has nothing for are left out.
func Sections(d *report.Document) []Section {
	var out []Section
	for _, section := range [...]func(*report.Document) Section{readSection, historySection, costSection, queriesSection,
		phasesSection, timelineSection, outliersSection, skewSection, lostOutputsSection,
		machinesSection, policiesSection, adviceSection, papersSection} {
		if s := section(d); len(s.Blocks) > 0 {
			out = append(out, s)
		}
	}
	return out
}
