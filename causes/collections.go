package causes

import (
	"cmp"
	"context"
	_ "embed"
	"slices"
	"strconv"
	"strings"

	"straggler/engine"
	"straggler/schema"
)

//go:embed collections.sql
var collectionsSQL string

// A process runs tasks of several phases at a time, and serves blocks written by tasks of earlier phases. Where phases of an
// application overlapped, the garbage collections of their tasks are therefore kept by application. They depend on the rows of
// that application alone.
const (
	// leastCollection is the shortest collection, in seconds, that is kept: by shareOfPause it explains a wait of 0.2 s, and
	// shorter waits are rarely due to a link (retransmission timeout).
	leastCollection = 0.1
	// mostCollections is the number of collections kept for an application, the longest ones.
	mostCollections = 4096
)

// collection is the garbage collection during one task.
type collection struct {
	Application schema.Key  `col:"application_id"`
	Phase       schema.Key  `col:"phase_id"`
	Attempt     schema.Key  `col:"attempt_id"`
	Machine     int64       `col:"machine"`
	Start       schema.Time `col:"start_time"`
	Duration    float64     `col:"duration_s"`
	Seconds     float64     `col:"gc_s"`
}

func (c *collection) end() schema.Time { return c.Start.Add(c.Duration) }

// collections are the collections of applications with overlapping phases.
type collections struct {
	application map[schema.Key]schema.Key // of the phases whose tasks may have waited for one
	of          map[schema.Key]collectionList
}

// collectionList holds the collections of one application.
type collectionList struct {
	byStart []collection
	ends    []schema.Time // the latest end up to each
}

// add appends a collection.
func (m *collections) add(c collection) {
	if m.of == nil {
		m.of = map[schema.Key]collectionList{}
	}
	l := m.of[c.Application]
	l.byStart = append(l.byStart, c)
	m.of[c.Application] = l
}

// settle sorts the collections once all have been added.
func (m *collections) settle() {
	for application := range m.of {
		m.settleOf(application)
	}
}

// settleOf settles an application if that has not been done.
func (m *collections) settleOf(application schema.Key) {
	l := m.of[application]
	if len(l.ends) == len(l.byStart) {
		return
	}
	slices.SortFunc(l.byStart, func(a, b collection) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Attempt, b.Attempt))
	})
	l.ends = make([]schema.Time, len(l.byStart))
	for k := range l.byStart {
		l.ends[k] = l.byStart[k].end()
		if k > 0 {
			l.ends[k] = max(l.ends[k], l.ends[k-1])
		}
	}
	m.of[application] = l
}

// mayWait records a phase of an application whose tasks may have waited for a collection.
func (m *collections) mayWait(phase, application schema.Key) {
	if len(m.of[application].byStart) == 0 {
		return
	}
	if m.application == nil {
		m.application = map[schema.Key]schema.Key{}
	}
	m.application[phase] = application
}

// meanwhile lists the collections of the other phases of the application while a phase ran, by start.
func (m *collections) meanwhile(phase schema.Key, from, to schema.Time) func(yield func(*collection) bool) {
	return func(yield func(*collection) bool) {
		l := m.of[m.application[phase]]
		at, _ := slices.BinarySearch(l.ends, from)
		for i := at; i < len(l.byStart) && l.byStart[i].Start < to; i++ {
			if c := &l.byStart[i]; c.Phase != phase && c.end() > from && !yield(c) {
				return
			}
		}
	}
}

// readCollections reads the collections that the phases to attribute may have waited for.
func (r *run) readCollections(ctx context.Context) error {
	r.collections = &collections{}
	if slices.Contains(r.blank, "a.gc_s") {
		return nil
	}
	for c, err := range engine.ReadParts[collection](ctx, r.eng, "causes_collections", collectionsQuery(), r.seenPhases()...) {
		if err != nil {
			return err
		}
		r.collections.add(*c)
	}
	r.collections.settle()
	for i := range r.phases {
		if p := &r.phases[i]; p.outliers {
			r.collections.mayWait(p.ID, p.Application)
		}
	}
	return nil
}

func collectionsQuery() string {
	return strings.NewReplacer("{least}", strconv.FormatFloat(leastCollection, 'e', -1, 64), "{most}", strconv.Itoa(mostCollections)).Replace(collectionsSQL)
}

// collectionsOf does what collections.sql does, on a trace in memory with machines numbered in the order of their names.
func collectionsOf(t *schema.Trace, names []string) *collections {
	application := map[schema.Key]schema.Key{} // of a job
	for i := range t.Jobs {
		application[t.Jobs[i].JobID] = t.Jobs[i].ApplicationID
	}
	of := make(map[schema.Key]schema.Key, len(t.Phases))
	for i := range t.Phases {
		of[t.Phases[i].PhaseID] = application[t.Phases[i].JobID]
	}
	overlapping := overlappingPhases(t.Phases, of)
	var found []collection
	for i := range t.Attempts {
		a := &t.Attempts[i]
		if overlapping[a.PhaseID] && a.Machine.OK && a.StartTime.OK && a.GCS.OK && a.GCS.V >= leastCollection && a.DurationS.OK &&
			a.DurationS.V >= leastCollection && a.DurationS.V <= schema.LongestS {
			machine, _ := slices.BinarySearch(names, a.Machine.V)
			found = append(found, collection{a.ApplicationID, a.PhaseID, a.AttemptID, int64(machine), a.StartTime.V, a.DurationS.V, a.GCS.V})
		}
	}
	slices.SortFunc(found, func(a, b collection) int {
		return cmp.Or(cmp.Compare(a.Application, b.Application), cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Attempt, b.Attempt))
	})
	m := &collections{}
	n := 0 // of the application
	for i := range found {
		if n++; i > 0 && found[i].Application != found[i-1].Application {
			n = 1
		}
		if n <= mostCollections {
			m.add(found[i])
		}
	}
	m.settle()
	for i := range t.Phases {
		m.mayWait(t.Phases[i].PhaseID, of[t.Phases[i].PhaseID])
	}
	return m
}

// overlappingPhases returns the phases that ran at the same time as another phase of their application.
func overlappingPhases(all []schema.Phase, application map[schema.Key]schema.Key) map[schema.Key]bool {
	phases := make([]*schema.Phase, 0, len(all))
	for i := range all {
		if p := &all[i]; p.StartTime.OK && p.FinishTime.OK {
			phases = append(phases, p)
		}
	}
	slices.SortFunc(phases, func(a, b *schema.Phase) int {
		return cmp.Or(cmp.Compare(application[a.PhaseID], application[b.PhaseID]), cmp.Compare(a.StartTime.V, b.StartTime.V), cmp.Compare(a.PhaseID, b.PhaseID))
	})
	overlapping := map[schema.Key]bool{}
	latest := 0 // of the application's phases so far, the one that ends last
	for i := 1; i < len(phases); i++ {
		p, last := phases[i], phases[latest]
		if application[p.PhaseID] != application[last.PhaseID] {
			latest = i
			continue
		}
		if last.FinishTime.V > p.StartTime.V {
			overlapping[p.PhaseID], overlapping[last.PhaseID] = true, true
		}
		if before := phases[i-1]; p.StartTime.V < before.FinishTime.V {
			overlapping[before.PhaseID] = true
		}
		if p.FinishTime.V > last.FinishTime.V {
			latest = i
		}
	}
	return overlapping
}
