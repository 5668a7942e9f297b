package html

import (
	"straggler/report/view"
)

// sectionView is a section as its template takes it.
type sectionView struct {
	ID, Short, Title string
	Blocks           []blockView
}

// blockView is a block: one of its fields is set, and names the template that draws it.
type blockView struct {
	Lead      string
	Facts     view.Facts
	List      *view.List
	Folded    *foldedView
	Table     *tableView
	Advice    []adviceView
	Phases    []phaseView
	Plans     []planView
	Timelines *timelinesView
	Replays   []timelineView
	Heat      *heatView
	Papers    *papersView
	Charts    *chartsView
	Locality  []localityView
}

type foldedView struct {
	Title  string
	Blocks []blockView
}

// newSection returns nil for a section in which nothing but text that introduces it can be drawn.
func newSection(s view.Section) *sectionView {
	v := &sectionView{ID: s.ID, Short: s.Short, Title: s.Title, Blocks: newBlocks(s.Blocks)}
	for _, b := range v.Blocks {
		if b.Lead == "" {
			return v
		}
	}
	return nil
}

// newBlock reports whether there is anything to draw.
func newBlock(b view.Block) (v blockView, ok bool) {
	switch b := b.(type) {
	case view.Lead:
		return blockView{Lead: string(b)}, true
	case view.Note:
		return blockView{Lead: string(b)}, true
	case view.Facts:
		return blockView{Facts: b}, len(b) > 0
	case view.List:
		return blockView{List: &b}, len(b.Items) > 0
	case view.Folded:
		f := &foldedView{b.Title, newBlocks(b.Blocks)}
		return blockView{Folded: f}, len(f.Blocks) > 0
	case view.Table:
		return blockView{Table: newTable(b)}, true
	case view.Advice:
		v.Advice = adviceViews(b)
		return v, len(v.Advice) > 0
	case view.PhasePictures:
		v.Phases = phaseViews(b)
		return v, len(v.Phases) > 0
	case view.PlanPictures:
		v.Plans = planViews(b.Document)
		return v, len(v.Plans) > 0
	case view.RunHistories:
		v.Charts = newCharts("wide1", historyViews(b))
		return v, v.Charts != nil
	case view.Timelines:
		return blockView{Timelines: newTimelines(b)}, true
	case view.Replays:
		v.Replays = replayViews(b)
		return v, len(v.Replays) > 0
	case view.HeatMap:
		v.Heat = newHeat(b.Document)
		return v, v.Heat != nil
	case view.PaperFigures:
		v.Papers = newPapers(b)
		return v, true
	case view.CompletionTimes:
		v.Charts = newCharts("wide1", completionTimes(b.Simulation))
		return v, v.Charts != nil
	case view.OverTime:
		v.Charts = newCharts("", overTime(b.Simulation))
		return v, v.Charts != nil
	case view.LocalityBars:
		v.Locality = localityViews(b.Simulation)
		return v, len(v.Locality) > 0
	}
	return v, false
}

func newBlocks(blocks []view.Block) []blockView {
	var views []blockView
	for _, b := range blocks {
		if v, ok := newBlock(b); ok {
			views = append(views, v)
		}
	}
	return views
}
