package main

import (
	"context"
	"fmt"
	"math"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
	"straggler/table"
	"straggler/whatif"
	"straggler/whatif/policy"
	"straggler/whatif/schedule"
)

type whatifOptions struct {
	store    string
	policies []string
	settings []string
	sweeps   []string
	seeds    int
	errors   []float64
	list     bool
	optimize string
	schedule string
	apps     selectionFlags
	output   output
}

func whatifCommand(e *env) *cobra.Command {
	var o whatifOptions
	c := &cobra.Command{
		Use:   "whatif --store DIR",
		Short: "Replay a store under straggler policies and estimate what each would have saved",
		Long: `Whatif replays every job of a store under each policy and writes the tables whatif_runs and whatif_savings, replacing
those of an earlier run. A saving is the difference from a replay of the log as it was, on the same random numbers. It has
two 95 % intervals. That of this run (this_run_low, this_run_high) includes the random durations of copies and the errors of the
model of machines and work. That of another run (saving_low, saving_high) also includes the differences between runs, and
decides the verdict: if only the first is above 0, the policy helps, but by less than runs differ by themselves, so that
it takes several runs to see it. More --seeds narrow neither. The verdict is 'cannot tell' where the unchanged replay
misses the log by more than the saving, and with one seed, which gives no interval: its limits are NULL.

Without --policy the usual policies are replayed and, after straggler causes, an ideal policy for each cause found, which
removes that cause altogether; the name ideal selects all of these. --list shows all policies with their options.

With --scheduler, applications that share slots run under another scheduler than the log's: policy none shows the effect of
the scheduler alone, and the savings of the other policies include it. A scheduler that needs what the log lacks is refused:
copy-compute splitting needs reduce slots and the time that reduces spend copying; fifo-placed, links between racks; quincy
and waiting for a slot near the data, the location of the data; waiting for a rack (t2), racks; tmin, pools with minimum
shares. straggler simulate runs the jobs of a store on a cluster that has these. Likewise, late-phases needs the progress of
reduces.

With --application or --since only the jobs of these applications count, although all applications that share the slots of
a cluster are replayed together. The model of machines and work is learned from their logs alone, and the tables keep the
savings over all applications.

Policies that use the progress of running tasks are replayed with each --progress-error, since logs rarely record progress:
0.03 means that the first estimate of a task's duration is off by 3 % (one standard deviation).`,
		Example: `  straggler whatif --list
  straggler whatif --store lake
  straggler whatif --store lake --policy late,spark --set late.cap=0.2 --seeds 10
  straggler whatif --store lake --policy ideal
  straggler whatif --store lake --scheduler fair --policy none,late --seeds 5
  straggler whatif --store lake --sweep spark.multiplier=1:3:0.5
  straggler whatif --store lake --optimize spark --seeds 5`,
		Args: onlyFlags,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.list {
				return e.rows(o.output, policyRows())
			}
			if o.store == "" {
				return useError("name a store with --store DIR, or list the policies with --list")
			}
			if o.optimize != "" {
				return runOptimize(c.Context(), e, o)
			}
			return runWhatif(c.Context(), e, o)
		},
	}
	o.flags(c.Flags())
	cacheFlag(c, e)
	engineFlag(c, e)
	o.output.flags(c, rowEncodings)
	combinesOnly(c.Flags(), "list", "output", "as")
	combinesOnly(c.Flags(), "optimize", "store", "cache", "engine", "seeds", "application", "since", "output", "as")
	return c
}

func (o *whatifOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.store, "store", "", "`DIR` or URL of the store")
	f.StringSliceVar(&o.policies, "policy", nil, "replay these `POLICIES`, comma separated; ideal: all ideals")
	f.StringArrayVar(&o.settings, "set", nil, "set an option, such as `late.cap=0.2`; may be repeated")
	f.StringArrayVar(&o.sweeps, "sweep", nil, "replay a policy for each value of an option, such as `late.cap=0.05:0.5:0.05`")
	f.IntVar(&o.seeds, "seeds", 20, "replay each policy under `N` seeds")
	f.Float64SliceVar(&o.errors, "progress-error", nil, "`ERRORS` of the progress that policies see, comma separated (default 0.03,0.3)")
	f.Lookup("progress-error").DefValue = "" // the help says what is taken without it
	f.StringVar(&o.schedule, "scheduler", "", "replay under this `SCHEDULER` instead of the log's own, as in 'delay t1=5 t2=5'; see straggler help schedulers")
	f.StringVar(&o.optimize, "optimize", "", "search the speculation settings of `spark` for this workload and print them")
	f.BoolVar(&o.list, "list", false, "list the policies and their options")
	o.apps.flags(f, "replay only")
}

func policyRows() table.Rows {
	f := table.NewFixed("policy", "option", "default", "unit", "does", "source")
	for _, s := range policy.Specs() {
		f.Add(s.Name, nil, nil, nil, s.Doc, s.Source)
		for _, o := range s.Options() {
			f.Add(s.Name, o.Name, o.Default, o.Unit, o.Doc, nil)
		}
	}
	return f
}

func runWhatif(ctx context.Context, e *env, o whatifOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	under, err := scheduler(o.schedule)
	if err != nil {
		return err
	}
	apps, err := o.apps.applications()
	if err != nil {
		return err
	}
	return e.withResults(ctx, o.store, func(st *store.Store, eng engine.Engine) error {
		defer e.step("replaying")()
		usual, err := whatif.Usual(ctx, st, eng, whatif.Options{Applications: apps})
		if err != nil {
			return err
		}
		chosen, err := policy.Choose(o.policies, o.settings, o.sweeps, usual)
		if err != nil {
			return err
		}
		s, err := whatif.Run(ctx, st, eng,
			whatif.Options{Policies: chosen, Seeds: o.seeds, Errors: o.errors, Scheduler: under, Applications: apps, Tool: version})
		if err != nil {
			return err
		}
		if err := e.rows(o.output, savingRows(&s)); err != nil {
			return err
		}
		e.say("%s of %s replayed under %s in %.2f s; the replay of the unchanged log differs from the observed completion times by %.2f s (%.1f %%)",
			count(int64(s.Jobs), "job"), count(int64(s.Attempts), "attempt"), count(int64(s.Seeds), "seed"), s.Seconds, s.ReplayErrorS, 100*s.ReplayError)
		if under.Other() {
			e.say("under the scheduler %s, policy none included; savings are over the log as it was", under)
		}
		for _, note := range s.Assumed() {
			e.say("%s", note)
		}
		return nil
	})
}

func (o *whatifOptions) check() error {
	if o.seeds < 1 || o.seeds > 10_000 {
		return useError("--seeds %d: give a number from 1 to 10000", o.seeds)
	}
	for _, x := range o.errors {
		if !(x >= 0 && x <= 1) {
			return useError("--progress-error %g: give fractions from 0 to 1", x)
		}
	}
	return nil
}

func savingRows(s *whatif.Summary) table.Rows {
	f := table.NewFixed("policy", "settings", "progress_error DOUBLE", "verdict", "saving_s DOUBLE", "saving_low DOUBLE", "saving_high DOUBLE",
		"this_run_low DOUBLE", "this_run_high DOUBLE",
		"saving_share DOUBLE", "slot_time_change DOUBLE", "copies DOUBLE", "wins DOUBLE", "kills DOUBLE", "waste_s DOUBLE")
	for i := range s.Results {
		r := &s.Results[i]
		g := &r.All
		var settings, progress any // NULL where they are the defaults, and where it does not matter
		if text := r.Changed(); text != "" {
			settings = text
		}
		if r.Progress {
			progress = r.Error
		}
		f.Add(r.Name, settings, progress, string(r.Verdict(s.Uncertainty())), round(g.Saving.Mean, 1e3), round(g.Saving.Low, 1e3), round(g.Saving.High, 1e3),
			round(g.ThisRun.Low, 1e3), round(g.ThisRun.High, 1e3), round(g.Share, 1e4), round(g.SlotChange, 1e4), g.Copies, g.Wins, g.Kills, round(g.WasteS, 1e3))
	}
	return f
}

// runOptimize prints the best of Spark's speculation settings as lines of its configuration, with their savings.
func runOptimize(ctx context.Context, e *env, o whatifOptions) error {
	if o.optimize != "spark" {
		return useError("--optimize %s: only spark can be optimized", o.optimize)
	}
	if err := o.check(); err != nil {
		return err
	}
	apps, err := o.apps.applications()
	if err != nil {
		return err
	}
	return e.withResults(ctx, o.store, func(st *store.Store, eng engine.Engine) error {
		defer e.step("searching settings")()
		a, err := whatif.Optimize(ctx, eng, whatif.Options{Seeds: o.seeds, Applications: apps})
		if err != nil {
			return err
		}
		if err := e.rows(o.output, adviceRows(&a)); err != nil {
			return err
		}
		g := &a.Result.All
		e.say("%d settings tried; the lines belong together; the figures are of all of them, on random numbers that the search has not used", a.Tried)
		limits := fmt.Sprintf("%.2f to %.2f s", g.Saving.Low, g.Saving.High)
		if o.seeds == 1 {
			limits = "limits not known from one seed"
		}
		e.say("the best save %.2f s (%s) of %.2f s of job time; the replay of the unchanged log differs from the observed completion times by %.2f s (%.1f %%)",
			g.Saving.Mean, limits, g.Before.Mean*float64(g.Jobs), a.ReplayErrorS, 100*a.ReplayError)
		switch {
		case a.Verdict == schema.Saves:
		case o.seeds == 1:
			e.say("cannot tell: one seed does not show by how much another run would differ; --seeds 2 or more does")
		case a.Verdict == schema.CannotTell:
			e.say("cannot tell: the error of the replay is larger than the saving")
		default:
			e.say("%s: leave speculation off", a.Verdict)
		}
		return nil
	})
}

func adviceRows(a *whatif.Advice) table.Rows {
	f := table.NewFixed("setting", "verdict", "saving_s DOUBLE", "saving_low DOUBLE", "saving_high DOUBLE",
		"this_run_low DOUBLE", "this_run_high DOUBLE", "saving_share DOUBLE", "slot_time_change DOUBLE", "copies DOUBLE", "waste_s DOUBLE")
	g := &a.Result.All
	for _, line := range a.Lines {
		f.Add(line, string(a.Verdict), round(g.Saving.Mean, 1e3), round(g.Saving.Low, 1e3), round(g.Saving.High, 1e3),
			round(g.ThisRun.Low, 1e3), round(g.ThisRun.High, 1e3), round(g.Share, 1e4), round(g.SlotChange, 1e4), g.Copies, round(g.WasteS, 1e3))
	}
	return f
}

// scheduler parses a scheduler; the log's own if the text is empty.
func scheduler(text string) (schedule.Scheduler, error) {
	if text == "" {
		return schedule.Scheduler{}, nil
	}
	chosen, err := schedule.Choose([]string{text})
	if err != nil {
		return schedule.Scheduler{}, useError("--scheduler: %v", err)
	}
	return chosen[0], nil
}

// round rounds a figure to a part of one for display; the store has the full value. One that is not known, as a share of
// nothing, is NULL.
func round(x, parts float64) any {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return math.Round(x*parts)/parts + 0 // + 0: no negative zero
}
