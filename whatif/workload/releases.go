package workload

import (
	"cmp"
	"slices"
	"sort"

	"straggler/schema"
)

// releases finds what each phase waited for. A parent that had finished all tasks is a barrier; one that was still running when
// the phase was released (Hadoop starts reduces early) counts with the tasks it had finished by then.
func (d *draft) releases(edges []*schema.Edge) {
	type stage struct {
		job    schema.Key
		native string
	}
	index := make(map[schema.Key]int32, len(d.Phases))
	stages := map[stage][]int32{}
	for i, row := range d.phaseRow {
		index[row.PhaseID] = int32(i)
		s := stage{row.JobID, row.NativeID}
		stages[s] = append(stages[s], int32(i))
	}
	stageOf := func(i int32) []int32 { row := d.phaseRow[i]; return stages[stage{row.JobID, row.NativeID}] }

	parents := make([][]int32, len(d.Phases))
	for _, e := range edges {
		from, ok1 := index[e.FromPhase]
		to, ok2 := index[e.ToPhase]
		if !ok1 || !ok2 || from == to {
			continue
		}
		// An edge between stages holds for every submission of either.
		for _, child := range stageOf(to) {
			parents[child] = append(parents[child], stageOf(from)...)
		}
	}
	for i := range d.Phases {
		slices.Sort(parents[i])
		for _, q := range slices.Compact(parents[i]) {
			if q < int32(i) {
				d.Phases[i].Parents = append(d.Phases[i].Parents, q)
			}
		}
	}
	d.resubmissions(parents)
	for i := range d.Phases {
		d.anchor(int32(i), parents[i])
	}
	for i := range d.Phases {
		slices.SortFunc(d.Phases[i].Watchers, func(a, b Watcher) int {
			return cmp.Or(cmp.Compare(a.Count, b.Count), cmp.Compare(a.Phase, b.Phase))
		})
	}
}

// resubmissions makes later submissions of a stage wait also for what the job was running when the stage was resubmitted, since
// that is where the loss was noticed.
func (d *draft) resubmissions(parents [][]int32) {
	byJob := make([][]int32, len(d.Jobs))
	for i := range d.Phases {
		byJob[d.Phases[i].Job] = append(byJob[d.Phases[i].Job], int32(i))
	}
	for i, row := range d.phaseRow {
		if row.Attempt == 0 && !row.Recompute {
			continue
		}
		parents[i] = append(parents[i], byJob[d.Phases[i].Job]...)
	}
}

// anchor makes phase i wait for those parents that were released before it.
func (d *draft) anchor(i int32, parents []int32) {
	p := &d.Phases[i]
	slices.Sort(parents)
	latest, found := int64(0), false
	for _, q := range slices.Compact(parents) {
		if q >= i { // phases are in order of release; a parent comes first
			continue
		}
		ends := d.ends[q]
		n := sort.Search(len(ends), func(k int) bool { return ends[k] > d.released[i] })
		at := d.released[q]
		if n > 0 {
			at = max(at, ends[n-1])
		}
		if !found || at > latest {
			latest, found = at, true
		}
		p.Anchors++
		d.Phases[q].Watchers = append(d.Phases[q].Watchers, Watcher{Phase: i, Count: int32(n)})
		if n < len(ends) && d.phaseRow[i].Attempt == 0 && !d.phaseRow[i].Recompute {
			d.Phases[q].Gates = append(d.Phases[q].Gates, i)
			p.Gated++
		}
	}
	if found {
		p.Gap = d.released[i] - latest
	}
}

// jobReleases finds what each job waited for: the end of the job that ended last before it was submitted, in an application
// that runs several (a driver program thinks between two actions), otherwise its own time of arrival.
func (d *draft) jobReleases() {
	submitted := d.submissions()
	for i := range d.Phases {
		p := &d.Phases[i]
		if p.Anchors == 0 {
			p.Gap = d.released[i] - submitted[p.Job]
			d.Jobs[p.Job].Roots = append(d.Jobs[p.Job].Roots, int32(i))
		}
	}
	byApp := map[schema.Key][]int32{}
	var apps []schema.Key
	for j := range d.Jobs {
		if _, ok := byApp[d.Jobs[j].App]; !ok {
			apps = append(apps, d.Jobs[j].App)
		}
		byApp[d.Jobs[j].App] = append(byApp[d.Jobs[j].App], int32(j))
	}
	for _, app := range apps {
		d.followOn(byApp[app], submitted)
	}
	for j := range d.Jobs {
		if a := d.Jobs[j].After; a >= 0 {
			d.Jobs[a].Followers = append(d.Jobs[a].Followers, int32(j))
		}
	}
}

// submissions returns the instants of submission; a job without one counts from its first phase.
func (d *draft) submissions() []int64 {
	submitted := make([]int64, len(d.Jobs))
	firstPhase := make([]int64, len(d.Jobs))
	for j := range firstPhase {
		firstPhase[j] = Forever
	}
	for i := range d.Phases {
		j := d.Phases[i].Job
		firstPhase[j] = min(firstPhase[j], d.released[i])
	}
	for j, row := range d.jobRow {
		at, finish := d.at(micros(row.SubmitTime)), d.at(micros(row.FinishTime))
		known := at != NoTime
		if !known {
			at = d.at(micros(row.StartTime))
			d.notes.JobsWithoutStart++
		}
		if at == NoTime || at > firstPhase[j] {
			at = firstPhase[j]
		}
		if at == Forever {
			at = max(finish, 0)
		}
		submitted[j] = at
		jb := &d.Jobs[j]
		if jb.Phases == 0 {
			d.jobDone[j] = max(at, finish)
			jb.Empty = d.jobDone[j] - at
		}
		if finish == NoTime {
			d.notes.JobsWithoutEnd++
			continue
		}
		jb.Tail = finish - d.jobDone[j]
		jb.Observed = finish - at
		if -jb.Tail > max(jb.Observed, 0) {
			d.notes.Contradicted++
		}
	}
	return submitted
}

func (d *draft) followOn(jobs []int32, submitted []int64) {
	byEnd := slices.Clone(jobs)
	slices.SortFunc(byEnd, func(a, b int32) int { return cmp.Or(cmp.Compare(d.jobDone[a], d.jobDone[b]), cmp.Compare(a, b)) })
	bySubmit := slices.Clone(jobs)
	slices.SortFunc(bySubmit, func(a, b int32) int { return cmp.Or(cmp.Compare(submitted[a], submitted[b]), cmp.Compare(a, b)) })
	blocks := d.blocking(bySubmit, submitted)
	n := 0
	for _, j := range bySubmit {
		for n < len(byEnd) && d.jobDone[byEnd[n]] <= submitted[j] {
			n++
		}
		jb := &d.Jobs[j]
		jb.After, jb.Gap = -1, submitted[j]
		if !blocks {
			continue
		}
		for k := n - 1; k >= 0; k-- { // a job of no length could precede itself
			// A job that ended is not released by its own end, and one of no length not by another of the same instant.
			if a := byEnd[k]; submitted[a] < submitted[j] {
				jb.After, jb.Gap = a, submitted[j]-d.jobDone[a]
				break
			}
		}
	}
}

// blocking reports whether the application submits its jobs one after the other, like a driver program that waits for each
// result: at least half of them were submitted when no other was running. Otherwise jobs arrive independently.
func (d *draft) blocking(bySubmit []int32, submitted []int64) bool {
	alone, busyUntil := 0, int64(-1)
	for i, j := range bySubmit {
		if i > 0 && submitted[j] >= busyUntil {
			alone++
		}
		busyUntil = max(busyUntil, d.jobDone[j])
	}
	return 2*alone >= len(bySubmit)-1
}
