package live

import (
	"cmp"
	"context"
	"math"
	"slices"

	"straggler/causes"
	"straggler/causes/machines"
	"straggler/schema"
	"straggler/whatif/policy"
	"straggler/whatif/replay"
)

// Options of a Watcher.
type Options struct {
	Policies []policy.Policy        // that make decisions; those that only change durations of a finished log are left out
	Health   []schema.MachineHealth // what a store knows about the machines
}

// Watcher follows one application from state to state.
type Watcher struct {
	o              Options
	names          []string // of the policies
	app            schema.Key
	feed           *feed
	estimateErrors errorsOf
	prior          map[string]float64 // factors of machines that the store calls slow
	health         []schema.MachineHealth
	factors        map[string]float64                 // of machines called slow, by this application or the store
	past           past                               // durations in finished phases
	cause          map[schema.Key]*schema.Attribution // verdicts on attempts that were slow at the last analysis
	known          int                                // finished attempts at the last analysis
	slow           []schema.Key                       // attempts that were slow then
	guesses        map[schema.Key]map[Basis]float64   // estimates to be compared with the outcome
}

// New returns a Watcher.
func New(o Options) *Watcher {
	w := &Watcher{o: o, prior: map[string]float64{}}
	latest := map[string]schema.Time{}
	for i := range o.Health {
		h := &o.Health[i]
		if at, ok := latest[h.Machine]; ok && at > h.WindowEnd {
			continue
		}
		latest[h.Machine] = h.WindowEnd
		delete(w.prior, h.Machine)
		if h.Verdict == schema.Slow && h.Factor.OK && h.Factor.V > 0 {
			w.prior[h.Machine] = h.Factor.V
		}
	}
	for _, p := range o.Policies {
		if p.New() != nil {
			w.names = append(w.names, p.Name)
		}
	}
	return w
}

// Update processes a state and returns what to show. If the application starts again as another attempt, everything earlier is
// dropped. It fails when the context ends, and must not be called again then.
func (w *Watcher) Update(ctx context.Context, s *State) (*Frame, error) {
	if len(s.Trace.Applications) == 0 {
		return &Frame{Now: s.Now, Notes: s.Notes}, nil
	}
	app := &s.Trace.Applications[0]
	if w.feed == nil || w.app != app.ApplicationID {
		w.begin(app, s.Trace.Settings)
	}
	w.score(s)
	for _, p := range w.feed.update(s) {
		p.pace.add(w.feed.to.View(p.number), w.factor)
		w.past.add(&p.pace)
	}
	decided, err := w.feed.to.Advance(ctx, w.feed.time(s.Now))
	if err != nil {
		return nil, err
	}
	slow := w.findSlow(s)
	w.analyse(s, slow)
	return w.frame(s, slow, decided), nil
}

// begin clears the state of the previous application.
func (w *Watcher) begin(app *schema.Application, settings []schema.Setting) {
	w.app, w.estimateErrors, w.guesses = app.ApplicationID, errorsOf{}, map[schema.Key]map[Basis]float64{}
	w.health, w.cause, w.known, w.slow = nil, nil, 0, nil
	w.factors, w.past = w.prior, past{on: map[string][]float64{}}
	w.feed = newFeed(app, settings, w.policies(), w.progress)
}

func newFeed(app *schema.Application, settings []schema.Setting, policies []replay.Policy, progress func(*replay.View, *replay.Running) float64) *feed {
	f := &feed{origin: app.StartTime.V, jobs: map[schema.Key]int32{}, phases: map[schema.Key]*watchedPhase{},
		attempts: map[schema.Key]*attempt{}, came: map[string]int64{}, left: map[string]bool{}, beats: map[string]*heartbeat{}}
	named := map[string]string{}
	for _, x := range settings {
		named[x.Name] = x.Value
	}
	f.settings = named
	f.to = replay.NewObserved(&replay.Application{Application: *app, Settings: named}, policies, progress)
	return f
}

func (w *Watcher) policies() []replay.Policy {
	var out []replay.Policy
	for _, p := range w.o.Policies {
		if x := p.New(); x != nil {
			out = append(out, x)
		}
	}
	return out
}

// factor returns the factor of a machine: 1 unless it is certainly larger, because the machine is slow or of an older
// generation.
func (w *Watcher) factor(machine string) float64 {
	if f, ok := w.factors[machine]; ok {
		return f
	}
	return 1
}

// progress returns the progress score of an attempt for policies: the elapsed share of its estimated time.
func (w *Watcher) progress(v *replay.View, a *replay.Running) float64 {
	x := w.feed.list[a.Observed()]
	x.phase.pace.add(v, w.factor)
	elapsed := v.Elapsed(a).Seconds()
	g := w.guess(x, v.MachineName(a.Machine), elapsed, w.feed.origin+schema.Time(v.Now()))
	if len(g.total) == 0 {
		return math.Pow(2, -1/tail) // by the tail alone, of which half takes less
	}
	return min(elapsed/g.mid(), 0.99)
}

// guess estimates the total time of an attempt from what is known at an instant.
func (w *Watcher) guess(x *attempt, machine string, elapsed float64, now schema.Time) guess {
	p := &x.phase.pace
	r := x.reported(x.sampleAt(now))
	if r.whole == nil {
		return p.byDuration(elapsed, machine, w.factor(machine), &w.past)
	}
	scatter := w.estimateErrors.scatter(r.basis)
	if m := p.expected(elapsed, machine, w.factor(machine), &w.past); m != nil {
		return m.given(r, elapsed, scatter)
	}
	return r.alone(elapsed, scatter)
}

// reported returns what an attempt has reported: the completed share, or the bytes read.
func (x *attempt) reported(s sample) report {
	from, to := s.from.Sub(x.started), s.to.Sub(x.started)
	if r := progressReport(s.progress, to); r.whole != nil {
		return r
	}
	return x.phase.pace.bytesReport(float64(s.bytes), from, to)
}

// sampleAt returns the last report that an attempt had made by an instant.
func (x *attempt) sampleAt(now schema.Time) sample {
	if s := x.samples[1]; s.at <= now {
		return s
	}
	if s := x.samples[0]; s.at <= now {
		return s
	}
	return sample{}
}

// slowAttempt is an attempt that is, or will be, longer than 1.5 × the median of its phase.
type slowAttempt struct {
	row     *schema.Attempt
	x       *attempt
	elapsed float64
	median  float64
	guess   guess
}

// sure is the probability of taking longer than 1.5 × the median required to show an attempt as slow. A false alarm costs more
// trust than a delay of a few seconds.
const sure = 0.9

// leastDone is the number of known durations required to call another task slow, as in detect.
const leastDone = 3

// findSlow finds the running attempts that are slow, or almost certainly will be.
func (w *Watcher) findSlow(s *State) []slowAttempt {
	running := map[*watchedPhase][]float64{}
	now := s.Now
	if s.Read > 0 {
		now = min(now, s.Read)
	}
	each := func(do func(a *schema.Attempt, x *attempt, elapsed float64)) {
		for i := range s.Trace.Attempts {
			a := &s.Trace.Attempts[i]
			if a.Status != schema.Running {
				continue
			}
			if x := w.feed.attempts[a.AttemptID]; x != nil && !x.phase.over && now > x.started {
				do(a, x, now.Sub(x.started))
			}
		}
	}
	each(func(a *schema.Attempt, x *attempt, elapsed float64) {
		running[x.phase] = append(running[x.phase], elapsed/w.factor(a.Machine.V))
	})
	medians := map[*watchedPhase]float64{}
	for p, elapsed := range running {
		p.pace.add(w.feed.to.View(p.number), w.factor)
		slices.Sort(elapsed)
		medians[p] = censoredMedian(p.pace.took, elapsed)
	}
	var slow []slowAttempt
	each(func(a *schema.Attempt, x *attempt, elapsed float64) {
		m, p := medians[x.phase], &x.phase.pace
		g := w.guess(x, a.Machine.V, elapsed, s.Now)
		w.note(a, x, p, elapsed)
		if len(p.took) >= leastDone && m > 0 && g.over(schema.OutlierRatio*m) >= sure {
			slow = append(slow, slowAttempt{a, x, elapsed, m, g})
		}
	})
	slices.SortStableFunc(slow, func(a, b slowAttempt) int {
		return cmp.Or(cmp.Compare(b.elapsed/b.median, a.elapsed/a.median), cmp.Compare(a.row.AttemptID, b.row.AttemptID))
	})
	return slow
}

// over returns the probability that the attempt takes longer than a time.
func (g *guess) over(limit float64) float64 {
	n := 0
	for _, t := range g.total {
		if t > limit {
			n++
		}
	}
	return float64(n) / float64(max(len(g.total), 1))
}

// censoredMedian returns the median duration of a phase with running attempts: the shortest time by which half have ended
// according to the product-limit estimate (Kaplan and Meier 1958), or NaN if that is not known yet. The median of finished
// attempts alone would be biased towards the fastest. Both slices are ascending.
func censoredMedian(done, running []float64) float64 {
	left := len(done) + len(running)
	survival, k := 1.0, 0
	for _, d := range done {
		for ; k < len(running) && running[k] < d; k++ {
			left--
		}
		survival *= 1 - 1/float64(left)
		left--
		if survival <= 0.5+1e-9 {
			return d
		}
	}
	return math.NaN()
}

// note keeps the first estimates of an attempt that has run for half of its phase's median, to compare them with the outcome.
func (w *Watcher) note(a *schema.Attempt, x *attempt, p *pace, elapsed float64) {
	if _, ok := w.guesses[a.AttemptID]; ok || len(p.took) < leastDone || elapsed < 0.5*median(p.took) {
		return
	}
	guesses := map[Basis]float64{}
	r := x.reported(x.samples[1])
	for _, g := range []guess{r.alone(elapsed, 0), p.byDuration(elapsed, a.Machine.V, w.factor(a.Machine.V), &w.past)} {
		if len(g.total) > 0 {
			guesses[g.basis] = g.mid()
		}
	}
	w.guesses[a.AttemptID] = guesses
}

// score compares earlier estimates with the attempts that have succeeded since.
func (w *Watcher) score(s *State) {
	for i := range s.Trace.Attempts {
		a := &s.Trace.Attempts[i]
		guesses, ok := w.guesses[a.AttemptID]
		if !ok || a.Status == schema.Running {
			continue
		}
		if a.Status == schema.Success && a.DurationS.OK {
			for _, b := range bases {
				w.estimateErrors.add(b, guesses[b], a.DurationS.V)
			}
		}
		delete(w.guesses, a.AttemptID)
	}
}

// windowS is the length of the windows in which a machine's speed may change, in seconds, as in causes.
const windowS = 3600

// analyse runs the model of causes on slow attempts and machines when there are enough new data: a twentieth more attempts, or
// another slow one.
func (w *Watcher) analyse(s *State, slow []slowAttempt) {
	done := 0
	for _, x := range w.feed.list {
		if x.ended {
			done++
		}
	}
	var ids []schema.Key
	for i := range slow {
		ids = append(ids, slow[i].row.AttemptID)
	}
	if w.cause != nil && done < w.known+max(w.known/20, 1) && subset(ids, w.slow) {
		return
	}
	w.known, w.slow = done, ids
	outliers := make([]schema.Outlier, 0, len(slow))
	for i := range s.Trace.Attempts { // for as long as the analysis takes, running attempts have the duration so far
		if a := &s.Trace.Attempts[i]; a.Status == schema.Running && a.StartTime.OK && s.Now > a.StartTime.V {
			a.DurationS = schema.Some(s.Now.Sub(a.StartTime.V))
			defer func() { a.DurationS = schema.Null[float64]{} }()
		}
	}
	for i := range slow {
		x := &slow[i]
		if excess := x.elapsed - x.median; excess > 0 {
			outliers = append(outliers, schema.Outlier{AttemptID: x.row.AttemptID, PhaseID: x.row.PhaseID, Rule: schema.HighRuntime,
				Ratio: schema.Some(x.elapsed / x.median), ExcessS: schema.Some(excess)})
		}
	}
	rows, model := causes.Analyse(s.Trace, outliers, windowS)
	w.cause = map[schema.Key]*schema.Attribution{}
	for i := range rows {
		if rows[i].Rank == 1 {
			w.cause[rows[i].AttemptID] = &rows[i]
		}
	}
	judge := machines.Health{Factors: &model.Machines, FalseDiscoveryRate: 0.05, OutlierProbability: model.Outliers.Probability}
	w.health = judge.Rows()
	w.factors = map[string]float64{}
	for m, f := range w.prior {
		w.factors[m] = f
	}
	for i := range w.health {
		h := &w.health[i]
		if !h.Factor.OK || h.Verdict == schema.UnknownVerdict && h.FactorLow.V <= 1 {
			continue
		}
		delete(w.factors, h.Machine) // what this application shows takes precedence
		if h.Factor.V > 1 && h.FactorLow.V > 1 {
			w.factors[h.Machine] = h.Factor.V
		}
	}
}

func subset(a, b []schema.Key) bool {
	for _, k := range a {
		if !slices.Contains(b, k) {
			return false
		}
	}
	return true
}
