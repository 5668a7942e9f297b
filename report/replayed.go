package report

import (
	"cmp"
	"slices"

	"straggler/report/prose"
	"straggler/schema"
)

// Replayed is one job in a replay of the log and under a policy.
type Replayed struct {
	JobID         schema.Key
	Policy        string
	Before, After []ReplayedAttempt
}

// ReplayedAttempt is an attempt of a replay; times are seconds after the job was submitted.
type ReplayedAttempt struct {
	Phase        schema.Key
	Task         int64
	Machine      string
	Slot         int
	StartS, EndS float64
	Copy, Killed bool
}

// replayed draws the job of Options.Replayed.
func (b *builder) replayed() error {
	r := b.o.Replayed
	if r == nil || len(r.Before) == 0 || len(r.After) == 0 {
		return nil
	}
	names := map[schema.Key]string{}
	if err := b.pick("report_picked_phases", "phase_id", replayedPhases(r)); err != nil {
		return err
	}
	if err := read(b, "phases", func(p *PhaseRow) error {
		names[p.PhaseID] = PhaseShort(p.NativeID, p.Attempt)
		return nil
	}); err != nil {
		return err
	}
	length := 0.0
	for _, a := range append(slices.Clone(r.Before), r.After...) {
		length = max(length, a.EndS)
	}
	policy := prose.Clean(r.Policy, prose.TextRunes)
	w := &b.doc.Whatif
	w.Before = drawReplayed("The job that gains most, replayed as it was", r.Before, length, names)
	w.After = drawReplayed("The same job under "+policy, r.After, length, names)
	return nil
}

func replayedPhases(r *Replayed) []schema.Key {
	var keys []schema.Key
	for _, list := range [][]ReplayedAttempt{r.Before, r.After} {
		for _, a := range list {
			if !slices.Contains(keys, a.Phase) && len(keys) < 200 {
				keys = append(keys, a.Phase)
			}
		}
	}
	return keys
}

// drawReplayed makes a timeline of a replay; copies and killed attempts are drawn as marks, up to a limit.
func drawReplayed(title string, attempts []ReplayedAttempt, length float64, names map[schema.Key]string) *Timeline {
	sorted := withoutOverlaps(attempts)
	slices.SortStableFunc(sorted, func(a, b ReplayedAttempt) int {
		return cmp.Or(compareNatural(a.Machine, b.Machine), cmp.Compare(a.StartS, b.StartS))
	})
	t := &Timeline{Title: title, LengthS: length, Attempts: int64(len(sorted)), Replayed: true}
	for i := range sorted {
		t.Copies += one(sorted[i].Copy)
		t.Killed += one(sorted[i].Killed)
	}
	d := drawing{t: t, pixel: length / timelinePixels, drawn: map[schema.Key]markRow{}}
	for i, a := range sorted {
		status := schema.Success
		if a.Killed {
			status = schema.Killed
		}
		if a.Copy || a.Killed {
			if t.Marks++; len(d.drawn) < 300 {
				d.drawn[schema.Key(i)] = markRow{Task: a.Task, Status: status, Speculative: a.Copy, Phase: names[a.Phase]}
			}
		}
		d.add(&attemptRow{AttemptID: schema.Key(i), Machine: a.Machine, StartTime: schema.Time(0).Add(a.StartS),
			FinishTime: schema.Some(schema.Time(0).Add(a.EndS))})
	}
	d.finish()
	for l := range t.Lanes {
		for m := range t.Lanes[l].Marks {
			t.Lanes[l].Marks[m].AttemptID = 0
		}
	}
	return t
}

// withoutOverlaps ends each attempt when the next one on its slot starts: logs record the end of an attempt some
// milliseconds after its slot became free, and the overlap would be drawn as another slot.
func withoutOverlaps(attempts []ReplayedAttempt) []ReplayedAttempt {
	sorted := slices.Clone(attempts)
	slices.SortStableFunc(sorted, func(a, b ReplayedAttempt) int {
		return cmp.Or(cmp.Compare(a.Machine, b.Machine), cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.StartS, b.StartS))
	})
	for i := range sorted[:max(len(sorted)-1, 0)] {
		a, next := &sorted[i], &sorted[i+1]
		if a.Machine == next.Machine && a.Slot == next.Slot && next.StartS > a.StartS {
			a.EndS = min(a.EndS, next.StartS)
		}
	}
	return sorted
}

func one(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
