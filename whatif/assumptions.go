package whatif

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"straggler/schema"
	"straggler/whatif/workload"
)

// verdict compares a saving with the replay error: NaN if the log does not say how long the jobs took, infinite if most of what
// is replayed is assumed. Without an interval there is no verdict.
func verdict(s Interval, replayError, copies float64) schema.SavingVerdict {
	switch {
	case math.IsInf(replayError, 1):
		return schema.CannotTell
	case s.Mean == 0 && s.Low == s.High && copies == 0:
		return schema.Nothing
	case math.IsNaN(s.Low) || !math.IsNaN(replayError) && replayError > 0 && replayError >= math.Abs(s.Mean):
		return schema.CannotTell
	case s.Low <= 0 && s.High >= 0:
		return schema.Unclear
	case s.Mean > 0:
		return schema.Saves
	}
	return schema.Costs
}

// Verdict returns the verdict on the saving over all jobs.
func (r *Result) Verdict(replayErrorS float64) schema.SavingVerdict {
	return verdict(r.All.Saving, replayErrorS, r.All.Copies)
}

// Uncertainty bounds the error of a saving due to the replay: the replay error, or infinite if the log lacks the times of most
// attempts, which are then assumed, or left out.
func (s *Summary) Uncertainty() float64 {
	return uncertainty(s.ReplayErrorS, s.Notes.MostlyUntimed())
}

func uncertainty(replayErrorS float64, mostlyAssumed bool) float64 {
	if mostlyAssumed {
		return math.Inf(1)
	}
	return replayErrorS
}

// assumptions are stored with the saving over all jobs.
type assumptions struct {
	Ideal        bool        `json:"ideal,omitempty"` // a bound that no live scheduler reaches
	Does         string      `json:"does"`
	Settings     string      `json:"settings,omitempty"` // those that differ from the defaults
	Seeds        int         `json:"seeds"`
	Attempts     int         `json:"attempts"`       // replayed
	ReplayErrorS float64     `json:"replay_error_s"` // of policy none against the log, summed over the jobs
	ReplayError  float64     `json:"replay_error_share"`
	All          groupFigure `json:"all"`
	Small        groupFigure `json:"small"` // jobs of at most ten tasks
	Notes        []string    `json:"notes"`
}

type groupFigure struct {
	Jobs       int         `json:"jobs"`
	MeanS      [2]float64  `json:"mean_s"` // completion time without and with the policy
	MedianS    [2]float64  `json:"median_s"`
	P75S       [2]float64  `json:"p75_s"`
	P95S       [2]float64  `json:"p95_s"`
	SavingS    [3]*float64 `json:"saving_s"` // mean, low, high
	Share      float64     `json:"saving_share"`
	SlotChange float64     `json:"slot_time_change"`
	Copies     float64     `json:"copies"`
	Wins       float64     `json:"wins"`
	Kills      float64     `json:"kills"`
	WasteS     float64     `json:"wasted_slot_s"`
}

type jobAssumptions struct {
	ReplayErrorS *float64 `json:"replay_error_s"`
	Copies       float64  `json:"copies"`
	WasteS       float64  `json:"wasted_slot_s"`
}

func assume(r *Result, s *Summary) assumptions {
	return assumptions{
		Ideal: r.Ideal, Seeds: s.Seeds, Attempts: s.Notes.Attempts, Does: r.Doc, Settings: r.Changed(),
		ReplayErrorS: s.ReplayErrorS, ReplayError: s.ReplayError,
		All: r.All.figure(), Small: r.Small.figure(), Notes: s.notes(r),
	}
}

func (g *Group) figure() groupFigure {
	return groupFigure{
		Jobs: g.Jobs, MeanS: pair(g.Before.Mean, g.After.Mean), MedianS: pair(g.Before.Median, g.After.Median),
		P75S: pair(g.Before.P75, g.After.P75), P95S: pair(g.Before.P95, g.After.P95),
		SavingS: [3]*float64{finite(g.Saving.Mean), finite(g.Saving.Low), finite(g.Saving.High)}, Share: zero(g.Share),
		SlotChange: zero(g.SlotChange), Copies: zero(g.Copies), Wins: zero(g.Wins), Kills: zero(g.Kills), WasteS: zero(g.WasteS),
	}
}

func pair(a, b float64) [2]float64 { return [2]float64{zero(a), zero(b)} }

// zero returns x, or 0 if there are no jobs.
func zero(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}

func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// Assumed returns the assumptions behind all results as sentences, each once.
func (s *Summary) Assumed() []string {
	var out []string
	for i := range s.Results {
		for _, note := range s.notes(&s.Results[i]) {
			if !slices.Contains(out, note) {
				out = append(out, note)
			}
		}
	}
	return out
}

// notes returns the sentences about a result.
func (s *Summary) notes(r *Result) []string {
	out := assumed(&s.Notes, &r.Variant)
	if !r.Ideal && !r.Scheduler.Other() && r.All.Copies == 0 { // otherwise tasks and jobs may take longer than in the log
		out = append(out, idle(&s.Notes, &r.Variant)...)
	}
	if s.Seeds == 1 && !r.Ideal {
		out = append(out, oneSeed)
	}
	return out
}

const oneSeed = "One seed does not show by how much another run would differ, so that the limits of the savings are not known and the verdict is 'cannot tell': --seeds 2 or more gives them."

// assumed returns the assumptions behind the figures of a variant as sentences.
func assumed(n *workload.Notes, v *Variant) []string {
	var out []string
	say := func(on bool, format string, args ...any) {
		if on {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	count := func(n int, one, many, then string) { say(n > 0, "%s%s", howMany(n, one, many), then) }
	say(v.Progress && n.Reported < n.Attempts,
		"Where the log holds no progress (%s), policies see one that is linear in time, with an error: the first estimate of a task's duration is off by the progress_error of the row (one standard deviation).", ofAttempts(n.Attempts-n.Reported, n.Attempts))
	say(v.Progress && n.Reported > 0, "Where the log holds progress (%s), policies see that.", ofAttempts(n.Reported, n.Attempts))
	say(v.New() != nil, "A copy takes the work of its task times a rate drawn from the other tasks of its phase, times the factor of its machine; it never fails.")
	say(v.Scheduler.Other(), "Under another scheduler a task starts the median lag of its phase after it got its slot, without the waits that the log shows; where the log says that a task ran on its data, it takes the phase's factor longer elsewhere, and where others have theirs is not known.")
	say(v.Scheduler.Other(), "Any slot takes any task, since no log says which slots are for reduces.")
	say(v.Scheduler.Other() && n.Racks == 0, "The log does not say which machines share a rack: all count as one, and none is nearer than another.")
	say(v.Scheduler.Other() && n.Without > 0, "The logs of %d applications do not hold what the scheduler needs; there it does without.", n.Without)
	say(v.Ideal, "Ideals are bounds that no live scheduler reaches.")
	say(v.Protects(), "Copies of outputs and outputs recomputed early take no slot and no bandwidth; losses are only those that something noticed.")
	count(n.MeasuredSlots, "slot is", "slots are", " taken from measured concurrency, since the log does not declare slots.")
	count(n.OverSlots, "attempt that ran beyond the declared slots takes", "attempts that ran beyond the declared slots take",
		" none in the replay.")
	count(n.Copies, "speculative copy is", "speculative copies are",
		" replayed as in the log, so savings come on top of what copies saved already.")
	count(n.Unended, "attempt has", "attempts have",
		" no end in the log; the end of the phase is taken, or of the log where the phase still runs.")
	count(n.Contradicted, "job ends before its last task, by more than the job took", "jobs end before their last task, by more than the job took",
		": the times of the log contradict one another, and savings of such jobs mean nothing.")
	count(n.NoTimes, "attempt is", "attempts are", " left out, for want of a start or a phase.")
	count(n.Gated, "attempt began before the end of a phase whose output it reads", "attempts began before the end of a phase whose output they read",
		"; what ran after that end takes as long as in the log.")
	count(n.SmallPhases, "phase has", "phases have", " fewer than two finished tasks; a copy there takes as long as the task did.")
	count(n.MachinesSlow, "machine is", "machines are",
		" slower or faster than the others by 15 % or more; a copy there takes that much more or less time.")
	return out
}

// howMany returns a number with its noun and verb.
func howMany(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func ofAttempts(n, all int) string {
	if n == all {
		return "all attempts"
	}
	return fmt.Sprintf("%d of %d attempts", n, all)
}

// idle explains why a policy cannot do anything on a log under its own scheduler.
func idle(n *workload.Notes, v *Variant) (out []string) {
	if age, ok := v.number("age"); ok && n.LongestS < age {
		out = append(out, fmt.Sprintf("%s looks at tasks that have run for %g s, and none took longer than %.3g s: it can do nothing here. Set another age to see more: --set %s.age=%.2g.", v.Name, age, n.LongestS, v.Name, n.LongestS/5))
	}
	if lag, ok := v.number("lag"); ok && n.LongestJobS < lag && n.JobsWithoutStart+n.JobsWithoutEnd == 0 {
		out = append(out, fmt.Sprintf("%s makes no copy in the first %g s of a job, and none took longer than %.3g s: it can do nothing here. Set another lag to see more: --set %s.lag=%.2g.", v.Name, lag, n.LongestJobS, v.Name, n.LongestJobS/5))
	}
	if share, ok := v.number("budget"); ok && share*float64(n.MostSlots) < 2 {
		note := fmt.Sprintf("%s may use %g %% of at most %d slots for clones, which is less than two: it can do nothing here.", v.Name, 100*share, n.MostSlots)
		if n.MostSlots >= 4 {
			note += fmt.Sprintf(" With --set %s.budget=0.5 it may clone phases of fewer than %d tasks.", v.Name, n.MostSlots/4+1)
		}
		out = append(out, note)
	}
	return out
}

// number returns the value of a numeric option.
func (v *Variant) number(option string) (float64, bool) {
	text, ok := v.Option(option)
	if !ok {
		return 0, false
	}
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil
}
