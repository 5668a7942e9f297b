package whatif

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"straggler/engine"
	"straggler/schema"
	"straggler/selection"
	"straggler/whatif/policy"
	"straggler/whatif/workload"
)

// mostPictured is the largest number of attempts that are replayed for a picture.
const mostPictured = 2_000_000

// Gained is the job that gains most, before and after.
type Gained struct {
	Job           schema.Key
	Variant       Variant
	Before, After []Bar
}

// MostGained replays the job that gained most in the last replays of the store: under the speculation of the log's own
// framework if that saves anything, since it only has to be switched on, or else under the policy that saves most. It returns
// nil if no policy saves anything, and for stores too large to be read for a picture. If the last Run was in this process, its
// summary may save reading the store again; otherwise it is nil.
func MostGained(ctx context.Context, eng engine.Engine, last *Summary) (*Gained, error) {
	all := tables{eng: eng}
	g, seed, err := gained(ctx, all)
	if err != nil || g == nil {
		return nil, err
	}
	if last == nil {
		last = &Summary{}
	}
	return last.pictured(ctx, eng, selection.Applications{}, g, seed)
}

// MostGained does the same for a Try on some applications: it uses the speculation of the log's own framework if that saves
// anything over all of their jobs, or else the policy that saves most.
func (s *Summary) MostGained(ctx context.Context, eng engine.Engine, apps selection.Applications) (*Gained, error) {
	var best *Result
	for i := range s.Results {
		r := &s.Results[i]
		if r.Ideal || r.Best == 0 || r.Verdict(s.Uncertainty()) != schema.Saves {
			continue
		}
		if best == nil || own(r.Name) && !own(best.Name) || own(r.Name) == own(best.Name) && r.All.Saving.Mean > best.All.Saving.Mean {
			best = r
		}
	}
	if best == nil {
		return nil, nil
	}
	g := &Gained{Job: best.Best, Variant: best.Variant}
	return s.pictured(ctx, eng, apps, g, 1)
}

// own reports whether a policy is the speculation of a framework that writes logs.
func own(policy string) bool { return policy == "spark" || policy == "mrv2" }

// pictured completes g with the job before and after under a seed; nil if that would read too much.
func (s *Summary) pictured(ctx context.Context, eng engine.Engine, apps selection.Applications, g *Gained, seed int64) (*Gained, error) {
	each, err := s.replayedPools(ctx, eng, apps)
	if err != nil || each == nil {
		return nil, err
	}
	err = each(func(w *workload.Workload) error {
		if before, after, err := timeline(ctx, w, g.Variant, g.Job, seed); !errors.Is(err, errNoJob) {
			g.Before, g.After = before, after
			return err
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("whatif: %w", err)
	}
	return g, nil
}

// replayedPools returns a pass over the pools of applications: those that the summary still holds, which it releases, or else
// pools read again; nil if they are too large for a picture.
func (s *Summary) replayedPools(ctx context.Context, eng engine.Engine, apps selection.Applications) (pass, error) {
	if w := s.pools; w != nil {
		s.pools = nil
		return only(w), nil
	}
	from, err := tablesOf(ctx, eng, apps)
	if err != nil {
		return nil, fmt.Errorf("whatif: %w", err)
	}
	if large, err := anyRow(ctx, from, fmt.Sprintf("SELECT CAST(count(*) > %d AS INT) AS n FROM attempts", mostPictured)); err != nil || large {
		return nil, err
	}
	l, err := newLoader(ctx, eng, apps)
	if err != nil {
		return nil, fmt.Errorf("whatif: reading the store: %w", err)
	}
	l.divide(batchAttempts)
	if err := l.observe(ctx, func(*workload.Workload) {}); err != nil {
		return nil, fmt.Errorf("whatif: %w", err)
	}
	return l.pass(ctx), nil
}

// gain is a row of gained.sql.
type gain struct {
	Policy     string             `col:"policy"`
	Parameters string             `col:"parameters"`
	JobID      schema.Key         `col:"job_id"`
	Seed       schema.Null[int64] `col:"seed"`
}

// gained finds the job and the policy, and the seed with the median duration of the job; nil if no policy saves anything.
func gained(ctx context.Context, from tables) (*Gained, int64, error) {
	var first, others []string
	for _, s := range policy.Specs() {
		switch {
		case own(s.Name):
			first = append(first, s.Name)
		case !s.Ideal:
			others = append(others, s.Name)
		}
	}
	for _, names := range [][]string{first, others} {
		var found []gain
		policies := "'" + strings.Join(names, "', '") + "'"
		err := collect(ctx, from, &found, strings.Replace(query("gained"), "{policies}", policies, 1))
		if err != nil {
			return nil, 0, fmt.Errorf("whatif: reading the savings: %w", err)
		}
		if len(found) == 0 {
			continue
		}
		typical := found[len(found)/2]
		v, err := variantOf(typical.Policy, typical.Parameters)
		if err != nil {
			return nil, 0, fmt.Errorf("whatif: %w", err)
		}
		return &Gained{Job: typical.JobID, Variant: v}, typical.Seed.Or(1), nil
	}
	return nil, 0, nil
}

// variantOf returns the variant of a row of results.
func variantOf(name, parameters string) (Variant, error) {
	p, err := policy.ByName(name)
	if err != nil {
		return Variant{}, err
	}
	var values map[string]any
	if err := json.Unmarshal([]byte(parameters), &values); err != nil {
		return Variant{}, fmt.Errorf("parameters of %s: %w", name, err)
	}
	v := Variant{Policy: p}
	v.Error, _ = values["progress_error"].(float64)
	for _, o := range p.Options() {
		if value, ok := values[o.Name]; ok {
			if v.Policy, err = v.With(o.Name, fmt.Sprint(value)); err != nil {
				return Variant{}, err
			}
		}
	}
	return v, nil
}
