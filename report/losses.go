package report

import (
	"iter"
	"maps"
	"slices"

	"straggler/engine"
	"straggler/report/prose"
	"straggler/schema"
)

// losses sums what jobs lost, and divides it among phases, tasks and causes. It streams phases and edges ordered by job,
// then late tasks ordered by phase; its memory grows with jobs, phases on critical paths, and machines.
func (b *builder) losses() error {
	listed := topPhases
	if b.o.Scope.narrow() {
		listed = scopedPhases
	}
	s := &sums{apps: map[schema.Key]*total{}, jobs: map[schema.Key]*total{}, phases: newBest(listed), scope: b.o.Scope, onPath: map[schema.Key]pathPhase{},
		queued: map[schema.Key]float64{}, phaseParts: map[schema.Key]*parts{}, attempts: newBest(b.o.Top), machines: map[string]float64{}}
	for _, c := range causeTable {
		s.byCause = append(s.byCause, CauseCost{Cause: c.Cause})
	}
	b.sums = s
	for a, err := range engine.Read[struct {
		ApplicationID schema.Key `col:"application_id"`
	}](b.ctx, b.eng, "SELECT application_id FROM report_apps ORDER BY application_id NULLS LAST") {
		if err != nil {
			return err
		}
		s.apps[a.ApplicationID] = &total{}
	}
	for _, step := range []func() error{b.queues, b.jobLosses, b.taskShares, b.excess, b.jobCosts} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// queues computes what each phase lost because tasks waited for slots.
func (b *builder) queues() error {
	var tasks []timedTask
	var phase schema.Key
	var origin schema.Time
	flush := func() {
		if q := queueLoss(tasks); q > 0 {
			b.sums.queued[phase] = q
		}
		tasks = tasks[:0]
	}
	err := read(b, "queues", func(r *struct {
		PhaseID   schema.Key  `col:"phase_id"`
		StartTime schema.Time `col:"start_time"`
		DurationS float64     `col:"duration_s"`
		ExcessS   float64     `col:"excess_s"`
	}) error {
		if r.PhaseID != phase {
			flush()
			phase, origin = r.PhaseID, r.StartTime
		}
		tasks = append(tasks, timedTask{r.StartTime.Sub(origin), r.DurationS, r.ExcessS})
		return nil
	})
	if err != nil {
		return err
	}
	flush()
	return nil
}

// nodeRow is a phase of a job; the phase is NULL for a job without any.
type nodeRow struct {
	ApplicationID schema.Key               `col:"application_id"`
	JobID         schema.Key               `col:"job_id"`
	PhaseID       schema.Null[schema.Key]  `col:"phase_id"`
	Recompute     bool                     `col:"recompute"`
	StartTime     schema.Null[schema.Time] `col:"start_time"`
	FinishTime    schema.Null[schema.Time] `col:"finish_time"`
	LostS         schema.Null[float64]     `col:"lost_s"`
	JobStart      schema.Null[schema.Time] `col:"job_start"`
	JobFinish     schema.Null[schema.Time] `col:"job_finish"`
}

type edgeRow struct {
	JobID     schema.Key `col:"job_id"`
	FromPhase schema.Key `col:"from_phase"`
	ToPhase   schema.Key `col:"to_phase"`
}

func (b *builder) jobLosses() error {
	sql, err := sqlOf("edges")
	if err != nil {
		return err
	}
	next, stop := iter.Pull2(engine.Read[edgeRow](b.ctx, b.eng, sql))
	defer stop()
	edge, err, more := next()
	var rows []nodeRow
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		var edges []edgeRow
		for more && err == nil && edge.JobID <= rows[0].JobID {
			if edge.JobID == rows[0].JobID {
				edges = append(edges, *edge)
			}
			edge, err, more = next()
		}
		if more && err != nil {
			return err
		}
		if b.o.Scope.hasJob(rows[0].JobID) {
			b.sums.job(rows, edges)
		}
		rows = rows[:0]
		return nil
	}
	if more && err != nil {
		return err
	}
	if err := read(b, "nodes", func(r *nodeRow) error {
		if len(rows) > 0 && rows[0].JobID != r.JobID {
			if err := flush(); err != nil {
				return err
			}
		}
		rows = append(rows, *r)
		return nil
	}); err != nil {
		return err
	}
	return flush()
}

// job adds the loss of one job.
func (s *sums) job(rows []nodeRow, edges []edgeRow) {
	t := &total{app: rows[0].ApplicationID}
	s.jobs[rows[0].JobID] = t
	if a, z := rows[0].JobStart, rows[0].JobFinish; a.OK && z.OK && z.V >= a.V {
		t.completion, t.timed = z.V.Sub(a.V), true
	}
	var nodes []phaseNode
	at := map[schema.Key]int{}
	for _, r := range rows {
		if !r.PhaseID.OK {
			continue
		}
		s.phaseCount++
		lost := 0.0
		if r.LostS.OK && prose.Finite(r.LostS.V) && r.LostS.V > 0 {
			lost = r.LostS.V
		}
		timed := r.StartTime.OK && r.FinishTime.OK && r.FinishTime.V >= r.StartTime.V
		// without times of the phase the cost to its job is unknown
		t.compared = t.compared || r.LostS.OK
		t.measured = t.measured || r.LostS.OK && (timed || lost == 0)
		queued := max(0, s.queued[r.PhaseID.V]-lost)
		if !timed {
			continue
		}
		lost += queued
		if r.Recompute { // without the loss it would not have run
			lost = r.FinishTime.V.Sub(r.StartTime.V)
		}
		at[r.PhaseID.V] = len(nodes)
		origin := rows[0].StartTime.V
		nodes = append(nodes, phaseNode{phase: r.PhaseID.V, start: r.StartTime.V.Sub(origin), finish: r.FinishTime.V.Sub(origin), lost: lost, queued: queued})
	}
	l := jobLoss(nodes, numbered(edges, at))
	if t.timed {
		l.atMost(t.completion)
	}
	t.lost, t.measured = l.lostS, t.measured || l.lostS > 0
	for i, n := range nodes {
		if !s.scope.hasPhase(n.phase) {
			continue
		}
		s.phases.offer(ranked{key: n.phase, cost: l.costs[i], next: n.lost, last: n.finish - n.start, critical: l.critical[i]})
		if l.costs[i] > 0 {
			s.onPath[n.phase] = pathPhase{job: rows[0].JobID, cost: l.costs[i], queued: n.queued}
		}
	}
	for _, sum := range []*total{&s.all, s.app(t.app)} {
		sum.lost += t.lost
		sum.completion += t.completion
		sum.timed, sum.compared, sum.measured = sum.timed || t.timed, sum.compared || t.compared, sum.measured || t.measured
	}
}

// numbered returns the edges between different phases that have numbers.
func numbered(edges []edgeRow, numbers map[schema.Key]int) (pairs [][2]int) {
	for _, e := range edges {
		from, ok := numbers[e.FromPhase]
		to, too := numbers[e.ToPhase]
		if ok && too && from != to {
			pairs = append(pairs, [2]int{from, to})
		}
	}
	return pairs
}

// shareRow is a late task and one of its causes, NULL where it is no outlier.
type shareRow struct {
	PhaseID   schema.Key                `col:"phase_id"`
	AttemptID schema.Key                `col:"attempt_id"`
	Machine   schema.Null[string]       `col:"machine"`
	ShareS    float64                   `col:"share_s"`
	AloneS    float64                   `col:"alone_s"`
	Cause     schema.Null[schema.Cause] `col:"cause"`
	Seconds   schema.Null[float64]      `col:"seconds"`
}

// taskShares divides what phases cost among their late tasks and the causes of those. The shares of a phase are scaled
// so that they sum to what it cost its job.
func (b *builder) taskShares() error {
	s := b.sums
	listed := map[schema.Key]bool{}
	for _, p := range s.phases.sorted() {
		listed[p.key] = true
	}
	var tasks []shareRow // all late tasks of one phase, a row for each cause
	flush := func() {
		if len(tasks) > 0 {
			s.phaseShares(tasks, listed[tasks[0].PhaseID])
		}
		tasks = tasks[:0]
	}
	err := read(b, "shares", func(r *shareRow) error {
		if len(tasks) > 0 && tasks[0].PhaseID != r.PhaseID {
			flush()
		}
		if _, ok := s.onPath[r.PhaseID]; ok {
			tasks = append(tasks, *r)
		}
		return nil
	})
	if err != nil {
		return err
	}
	flush()
	s.unshared()
	return nil
}

// phaseShares divides the cost of one phase: what it lost at its end in proportion to the shares of its late tasks, what it
// lost because tasks waited in proportion to the excess of its outliers.
func (s *sums) phaseShares(rows []shareRow, listed bool) {
	path := s.onPath[rows[0].PhaseID]
	tail, slower := 0.0, 0.0
	for task := range byAttempt(rows) {
		tail += task[0].ShareS
		slower += slowness(task)
	}
	whole, perSecond := tail, 0.0
	if slower > 0 {
		whole += path.queued
		perSecond = path.queued / slower
	}
	if !(whole > 0) {
		return
	}
	var p parts
	for task := range byAttempt(rows) {
		share := task[0].ShareS + perSecond*slowness(task)
		s.taskShare(task, share*path.cost/whole, task[0].AloneS*path.cost/whole, &p)
	}
	s.addParts(path.job, &p)
	if listed {
		s.phaseParts[rows[0].PhaseID] = &p
	}
	path.shared = true
	s.onPath[rows[0].PhaseID] = path
}

// taskShare divides the share of one task among the causes that made it slower, in proportion to their seconds.
func (s *sums) taskShare(rows []shareRow, share, alone float64, p *parts) {
	if !(share > 0) {
		return
	}
	slower := slowness(rows)
	if !(slower > 0) {
		p.add(NotOutlier, share)
		return
	}
	if s.scope.hasPhase(rows[0].PhaseID) {
		s.attempts.offer(ranked{key: rows[0].AttemptID, cost: share, next: slower, alone: alone, critical: true})
	}
	for _, r := range rows {
		if !r.Cause.OK || !(r.Seconds.V > 0) {
			continue
		}
		part := share * (r.Seconds.V / slower)
		p.add(r.Cause.V, part)
		if r.Cause.V == schema.BadMachine && r.Machine.OK {
			s.machines[r.Machine.V] += part
		}
	}
}

// byAttempt yields the rows of each attempt.
func byAttempt(rows []shareRow) iter.Seq[[]shareRow] {
	return func(yield func([]shareRow) bool) {
		for i := 0; i < len(rows); {
			n := 1
			for i+n < len(rows) && rows[i+n].AttemptID == rows[i].AttemptID {
				n++
			}
			if !yield(rows[i : i+n]) {
				return
			}
			i += n
		}
	}
}

// slowness returns the seconds of the causes that made an attempt slower.
func slowness(rows []shareRow) float64 {
	sum := 0.0
	for _, r := range rows {
		if r.Cause.OK && r.Seconds.V > 0 {
			sum += r.Seconds.V
		}
	}
	return sum
}

// unshared attributes to NotOutlier what could not be divided among tasks because their times are unknown.
func (s *sums) unshared() {
	costs := map[schema.Key]float64{}
	var jobs []schema.Key
	for _, key := range slices.Sorted(maps.Keys(s.onPath)) {
		path := s.onPath[key]
		if path.shared {
			continue
		}
		if _, ok := costs[path.job]; !ok {
			jobs = append(jobs, path.job)
		}
		costs[path.job] += path.cost
	}
	slices.Sort(jobs)
	for _, j := range jobs {
		var p parts
		p.add(NotOutlier, costs[j])
		s.addParts(j, &p)
	}
}

func (s *sums) addParts(job schema.Key, p *parts) {
	j := s.jobs[job]
	for _, t := range []*total{j, s.app(j.app), &s.all} {
		if t.parts == nil {
			t.parts = &parts{}
		}
		t.parts.merge(p)
	}
}

func (s *sums) app(key schema.Key) *total {
	if s.apps[key] == nil {
		s.apps[key] = &total{}
	}
	return s.apps[key]
}

// excess sums the attributions.
func (b *builder) excess() error {
	s := b.sums
	return read(b, "excess", func(r *struct {
		ApplicationID schema.Key   `col:"application_id"`
		JobID         schema.Key   `col:"job_id"`
		Cause         schema.Cause `col:"cause"`
		Outliers      int64        `col:"outliers"`
		SumS          float64      `col:"sum_s"`
	}) error {
		if !s.scope.hasJob(r.JobID) {
			return nil
		}
		c := &s.byCause[causeOrder(r.Cause)]
		c.Outliers += r.Outliers
		c.SumS += r.SumS
		for _, t := range []*total{s.jobs[r.JobID], s.app(r.ApplicationID), &s.all} {
			if t != nil {
				t.outliers += r.Outliers
				t.excess += r.SumS
			}
		}
		return nil
	})
}

// jobCosts sums the savings of replays without each cause, if there are any.
func (b *builder) jobCosts() error {
	last := schema.Key(0)
	return read(b, "job_costs", func(r *struct {
		JobID    schema.Key           `col:"job_id"`
		Together schema.Null[float64] `col:"together_s"`
		Cause    schema.Cause         `col:"cause"`
		CostS    schema.Null[float64] `col:"cost_s"`
		CostLow  schema.Null[float64] `col:"cost_low"`
		CostHigh schema.Null[float64] `col:"cost_high"`
	}) error {
		if !b.o.Scope.hasJob(r.JobID) {
			return nil
		}
		c := &b.sums.byCause[causeOrder(r.Cause)]
		addNull(&c.CostS, r.CostS)
		addNull(&c.CostLow, r.CostLow)
		addNull(&c.CostHigh, r.CostHigh)
		if r.JobID != last { // the same in all rows of a job
			last = r.JobID
			addNull(&b.doc.Cost.TogetherS, r.Together)
		}
		return nil
	})
}

// addNull adds known values; the sum of none is unknown.
func addNull(sum *schema.Null[float64], v schema.Null[float64]) {
	if v.OK && prose.Finite(v.V) {
		sum.V, sum.OK = sum.V+v.V, true
	}
}
