package replay

import (
	"cmp"
	"slices"
	"sort"

	"straggler/schema"
)

// releases says what each phase waited for. A parent of which all tasks were over is a barrier; one that was still
// running when the phase was released (Hadoop starts reduces early) counts with the tasks it had finished by then.
func (d *draft) releases(edges []*schema.Edge) {
	type stage struct {
		job    schema.Key
		native string
	}
	index := make(map[schema.Key]int32, len(d.phases))
	stages := map[stage][]int32{}
	for i, row := range d.phaseRow {
		index[row.PhaseID] = int32(i)
		s := stage{row.JobID, row.NativeID}
		stages[s] = append(stages[s], int32(i))
	}
	stageOf := func(i int32) []int32 { row := d.phaseRow[i]; return stages[stage{row.JobID, row.NativeID}] }

	parents := make([][]int32, len(d.phases))
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
	for i := range d.phases {
		slices.Sort(parents[i])
		for _, q := range slices.Compact(parents[i]) {
			if q < int32(i) {
				d.phases[i].parents = append(d.phases[i].parents, q)
			}
		}
	}
	d.resubmissions(parents)
	for i := range d.phases {
		d.anchor(int32(i), parents[i])
	}
	for i := range d.phases {
		slices.SortFunc(d.phases[i].watchers, func(a, b watcher) int {
			return cmp.Or(cmp.Compare(a.count, b.count), cmp.Compare(a.phase, b.phase))
		})
	}
}

// resubmissions gives the later submissions of a stage more to wait for: what the job was doing when it was submitted
// again, since that is where the loss was noticed.
func (d *draft) resubmissions(parents [][]int32) {
	byJob := make([][]int32, len(d.jobs))
	for i := range d.phases {
		byJob[d.phases[i].job] = append(byJob[d.phases[i].job], int32(i))
	}
	for i, row := range d.phaseRow {
		if row.Attempt == 0 && !row.Recompute {
			continue
		}
		parents[i] = append(parents[i], byJob[d.phases[i].job]...)
	}
}

// anchor makes phase i wait for those parents that were released before it.
func (d *draft) anchor(i int32, parents []int32) {
	p := &d.phases[i]
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
		p.anchors++
		d.phases[q].watchers = append(d.phases[q].watchers, watcher{phase: i, count: int32(n)})
		if n < len(ends) && d.phaseRow[i].Attempt == 0 && !d.phaseRow[i].Recompute {
			d.phases[q].gates = append(d.phases[q].gates, i)
			p.gated++
		}
	}
	if found {
		p.gap = d.released[i] - latest
	}
}

// jobReleases says what each job waited for: the end of the job that ended last before it was submitted, in an
// application that runs several (a driver program thinks between two actions), otherwise its own time of arrival.
func (d *draft) jobReleases() {
	submitted := d.submissions()
	for i := range d.phases {
		p := &d.phases[i]
		if p.anchors == 0 {
			p.gap = d.released[i] - submitted[p.job]
			d.jobs[p.job].roots = append(d.jobs[p.job].roots, int32(i))
		}
	}
	byApp := map[schema.Key][]int32{}
	var apps []schema.Key
	for j := range d.jobs {
		if _, ok := byApp[d.jobs[j].app]; !ok {
			apps = append(apps, d.jobs[j].app)
		}
		byApp[d.jobs[j].app] = append(byApp[d.jobs[j].app], int32(j))
	}
	for _, app := range apps {
		d.followOn(byApp[app], submitted)
	}
	for j := range d.jobs {
		if a := d.jobs[j].after; a >= 0 {
			d.jobs[a].followers = append(d.jobs[a].followers, int32(j))
		}
	}
}

// submissions are the instants of submission; a job without one counts from its first phase.
func (d *draft) submissions() []int64 {
	submitted := make([]int64, len(d.jobs))
	firstPhase := make([]int64, len(d.jobs))
	for j := range firstPhase {
		firstPhase[j] = forever
	}
	for i := range d.phases {
		j := d.phases[i].job
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
		if at == forever {
			at = max(finish, 0)
		}
		submitted[j] = at
		jb := &d.jobs[j]
		if jb.phases == 0 {
			d.jobDone[j] = max(at, finish)
			jb.empty = d.jobDone[j] - at
		}
		if finish == NoTime {
			d.notes.JobsWithoutEnd++
			continue
		}
		jb.tail = finish - d.jobDone[j]
		jb.observed = finish - at
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
		jb := &d.jobs[j]
		jb.after, jb.gap = -1, submitted[j]
		if !blocks {
			continue
		}
		for k := n - 1; k >= 0; k-- { // a job of no length could precede itself
			// A job that ended is not released by its own end, and one of no length not by another of the same instant.
			if a := byEnd[k]; submitted[a] < submitted[j] {
				jb.after, jb.gap = a, submitted[j]-d.jobDone[a]
				break
			}
		}
	}
}

// blocking says whether the application submits its jobs one after the other, as a driver program does that waits for
// each result: at least half of them came when no other was running. Otherwise jobs arrive by themselves.
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
