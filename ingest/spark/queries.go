package spark

import (
	"slices"

	"straggler/ingest/spark/sqlplan"
	"straggler/schema"
)

// Limits on running queries.
const (
	maxLiveNodes   = 100_000   // operators of plans in memory, past which queries that have ended are written
	maxLiveQueries = 20_000    // queries in memory, past which the same
	maxQueries     = 1_000_000 // queries of an application that are distinguished
	maxLiveValues  = 2_000_000 // values of metrics in memory
)

// query is an execution of Spark SQL.
type query struct {
	key     schema.Key
	id      int64
	start   *planEvent // nil where the log does not have it
	end     *queryEnd  // nil while it runs
	initial *plan
	latest  *plan // of the last update; nil without one
	extra   []sqlplan.Metric
	jobs    []*job
	values  map[int64]accum
	driver  map[int64]int64
}

// accum is the value of an accumulator, and the phases whose tasks added to it.
type accum struct {
	value int64
	first *phase
	more  []*phase
}

func (a *accum) ran(p *phase) {
	switch {
	case a.first == nil:
		a.first = p
	case a.first != p && !slices.Contains(a.more, p) && len(a.more) < maxSubmissions-1:
		a.more = append(a.more, p)
	}
}

// known reports whether an event of the query itself is in the log.
func (q *query) known() bool { return q.start != nil || q.latest != nil }

// settled reports whether the query and all of its jobs have ended.
func (q *query) settled() bool {
	return q.end != nil && !slices.ContainsFunc(q.jobs, func(j *job) bool { return !j.ended })
}

func (q *query) nodes() int {
	n := 0
	for _, p := range []*plan{q.initial, q.latest} {
		if p != nil {
			n += len(p.nodes)
		}
	}
	return n
}

// query returns the query with an execution id, creating it when it is first mentioned; nil if it has been written, or if there
// are too many.
func (a *app) query(id int64) *query {
	if q := a.queries[id]; q != nil {
		return q
	}
	if _, written := a.queryKeys[id]; written || len(a.queryKeys) >= maxQueries {
		return nil
	}
	q := &query{key: a.keys.queries.Next(), id: id}
	a.queries[id] = q
	a.queryKeys[id] = q.key
	a.queryList = append(a.queryList, q)
	return q
}

func (a *app) queryStart(e *planEvent) {
	q := a.query(e.execution)
	if q == nil || q.start != nil {
		a.count.repeated++
		return
	}
	q.start, q.initial = e, e.plan
	if e.plan != nil {
		a.liveNodes += len(e.plan.nodes)
	}
	e.plan = nil
}

// planUpdate stores the plan as changed by adaptive execution. The last one is the plan that ran; earlier updates in the same
// block have no plan.
func (a *app) planUpdate(e *planEvent) {
	q := a.query(e.execution)
	if q == nil {
		a.count.repeated++
		return
	}
	if e.plan != nil && len(e.plan.nodes) > 0 {
		if q.latest != nil {
			a.liveNodes -= len(q.latest.nodes)
		}
		q.latest = e.plan
		a.liveNodes += len(e.plan.nodes)
	}
}

// countCut counts what was dropped from the plans of a query.
func (a *app) countCut(q *query) {
	for _, p := range []*plan{q.initial, q.latest} {
		if p == nil {
			continue
		}
		if p.seen > int64(len(p.nodes)) {
			a.count.plansCut++
		}
		if p.cutText {
			a.count.planTextsCut++
		}
	}
}

func (a *app) metricUpdate(e *planEvent) {
	if q := a.query(e.execution); q != nil && len(q.extra)+len(e.metrics) <= maxPlanNodes {
		q.extra = append(q.extra, e.metrics...)
	}
}

func (a *app) driverUpdates(e *driverUpdates) {
	q := a.query(e.Execution)
	if q == nil {
		return
	}
	if q.driver == nil {
		q.driver = map[int64]int64{}
	}
	for _, v := range e.Updates {
		if _, ok := q.driver[v.id]; v.value < 0 || !ok && !a.roomForValue() {
			continue // −1 is what was never set
		}
		if sum := q.driver[v.id] + v.value; sum >= 0 {
			q.driver[v.id] = sum
		}
	}
}

// queryEnd records the end of a query, and writes ended queries if there is much in memory.
func (a *app) queryEnd(e *queryEnd) {
	q := a.query(e.Execution)
	if q == nil || q.end != nil {
		a.count.repeated++
		return
	}
	q.end = e
	if a.liveNodes <= maxLiveNodes && len(a.queryList) <= max(maxLiveQueries, a.queriesAt) && a.liveValues < maxLiveValues {
		return
	}
	var kept []*query
	for _, q := range a.queryList {
		if !q.settled() {
			kept = append(kept, q)
			continue
		}
		a.writeQuery(q, true)
	}
	a.queryList = kept
	a.queriesAt = len(kept) + maxLiveQueries/2 // not at every end when none can go
}

// writeQueries writes all remaining queries, in the order of their first mention.
func (a *app) writeQueries(complete bool) {
	for _, q := range a.queryList {
		a.writeQuery(q, complete)
	}
	a.queryList = nil
}

// forgetQuery frees a query.
func (a *app) forgetQuery(q *query) {
	a.liveNodes -= q.nodes()
	a.liveValues -= len(q.values) + len(q.driver)
	delete(a.queries, q.id)
	for _, j := range q.jobs {
		j.query = nil
		for _, s := range j.stages {
			for _, p := range s.phases {
				if p.job == j {
					p.samples = nil
				}
			}
		}
	}
}

// runsFor records the query of a job.
func (a *app) runsFor(j *job, execution string) {
	id, ok := naturalID(execution)
	if !ok {
		return
	}
	if q := a.query(id); q != nil {
		j.query = q
		q.jobs = append(q.jobs, j)
	}
}

// naturalID reads an id written as a string.
func naturalID(s string) (int64, bool) {
	if s == "" || len(s) > 18 {
		return 0, false
	}
	id := int64(0)
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		id = id*10 + int64(s[i]-'0')
	}
	return id, true
}

func (a *app) roomForValue() bool {
	if a.liveValues >= maxLiveValues {
		a.count.valuesDropped++
		return false
	}
	a.liveValues++
	return true
}

// stageValues stores the values of operators' metrics at the end of a stage. A value is that of the accumulator, which sums
// over stages.
func (a *app) stageValues(p *phase, values stageValues) {
	q := p.job.query
	if q == nil {
		return
	}
	if q.values == nil {
		q.values = make(map[int64]accum, len(values))
	}
	for _, v := range values {
		at, ok := q.values[v.id]
		if !ok && !a.roomForValue() {
			continue
		}
		at.value = max(at.value, v.value)
		at.ran(p)
		q.values[v.id] = at
	}
	if p.samples != nil {
		a.parse(p.samples)
	}
}

// samples are the attempts of a phase whose values are kept by operator: those that read most rows, and those that ran
// longest.
type samples struct {
	heavy [sampled]sample
	long  [sampled]sample
}

const (
	sampled   = 4        // of each; the worst of a phase, and what to hold it against
	maxSample = 64 << 10 // bytes of the values of an attempt; a hundred operators take forty thousand
)

// sample is an attempt with its values, unparsed until they are needed. An attempt in both lists shares them.
type sample struct {
	attempt uint32 // ordinal, plus 1; 0 for none
	rank    int64
	raw     []byte
	values  stageValues
}

// sampleAttempt keeps the values of a successful attempt if it is among the most extreme of its phase.
func (a *app) sampleAttempt(p *phase, e *taskEnd, ordinal uint32) {
	if p.job.query == nil || len(e.accumulables) <= 2 || len(e.accumulables) > maxSample {
		return
	}
	if p.samples == nil {
		p.samples = &samples{}
	}
	in, _ := e.metric(mInputRecords)
	shuffled, _ := e.metric(mShuffleRecords)
	s := p.samples
	heavy, long := place(&s.heavy, in+shuffled), place(&s.long, e.finish-e.launch)
	if heavy == nil && long == nil {
		return
	}
	for _, old := range []*sample{heavy, long} {
		if old != nil && !s.shares(old) {
			a.texts.put(old.raw)
		}
		if old != nil {
			*old = sample{}
		}
	}
	raw := append(a.texts.get(), e.accumulables...)
	if heavy != nil {
		*heavy = sample{attempt: ordinal + 1, rank: in + shuffled, raw: raw}
	}
	if long != nil {
		*long = sample{attempt: ordinal + 1, rank: e.finish - e.launch, raw: raw}
	}
}

// place returns the slot for an attempt of a rank: that of the lowest-ranked one if it is exceeded, otherwise nil. On ties the
// first stays.
func place(kept *[sampled]sample, rank int64) *sample {
	least := &kept[0]
	for i := range kept {
		s := &kept[i]
		if s.attempt == 0 {
			return s
		}
		if s.rank < least.rank {
			least = s
		}
	}
	if rank <= least.rank {
		return nil
	}
	return least
}

// shares reports whether another sample is of the same attempt.
func (s *samples) shares(one *sample) bool {
	for i := range s.heavy {
		for _, other := range [...]*sample{&s.heavy[i], &s.long[i]} {
			if other != one && other.attempt == one.attempt {
				return true
			}
		}
	}
	return false
}

// parse parses the values of the attempts and frees their texts.
func (a *app) parse(s *samples) {
	for i := range s.heavy {
		a.parseOne(&s.heavy[i])
	}
	for i := range s.long {
		one := &s.long[i]
		for k := range s.heavy {
			if other := &s.heavy[k]; one.raw != nil && other.attempt == one.attempt {
				one.values, one.raw = other.values, nil
			}
		}
		a.parseOne(one)
	}
}

func (a *app) parseOne(s *sample) {
	if s.raw == nil {
		return
	}
	a.values = taskUpdates(s.raw, a.values)
	a.texts.put(s.raw)
	s.values, s.raw = slices.Clone(a.values), nil
}

// texts are buffers to be used again.
type texts [][]byte

// maxTexts bounds the buffers that wait: those of the phases that run at a time.
const maxTexts = 64

func (t *texts) get() []byte {
	n := len(*t) - 1
	if n < 0 {
		return nil
	}
	b := (*t)[n]
	*t = (*t)[:n]
	return b[:0]
}

func (t *texts) put(b []byte) {
	if cap(b) > 0 && len(*t) < maxTexts {
		*t = append(*t, b)
	}
}
