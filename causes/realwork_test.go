package causes

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"straggler/engine"
	"straggler/ingest/ingesttest"
	"straggler/schema"
)

// workTruth is the truth.json of a run of real work: programs under a processor quota per host, with faults injected into the
// cluster.
type workTruth struct {
	Labels []workLabel
	Plan   struct {
		Faults []struct {
			Cause schema.Cause
			Hosts []string
		}
	}
}

// workLabel says that a fault acted on the attempts of a stage: those of a host, a partition, or a time.
type workLabel struct {
	Cause     schema.Cause
	StageID   int64 `json:"stage_id"`
	Host      *string
	Partition *int64
	From      *int64 `json:"from_ms"`
	Until     int64  `json:"until_ms"`
}

// worked is a high_runtime outlier, with its verdict.
type worked struct {
	Stage      int64                     `col:"stage"`
	Again      int32                     `col:"again"`
	Task       int64                     `col:"task"`
	Machine    string                    `col:"machine"`
	Start      int64                     `col:"start_ms"`
	Finish     int64                     `col:"finish_ms"`
	Excess     float64                   `col:"excess_s"`
	GC         float64                   `col:"gc_s"`
	Wait       float64                   `col:"wait_s"`
	UsualWait  float64                   `col:"usual_wait_s"`
	Delay      float64                   `col:"delay_s"`
	Cause      schema.Null[schema.Cause] `col:"cause"`
	Confidence schema.Null[float64]      `col:"confidence"`
}

const workedSQL = `SELECT CAST(p.native_id AS BIGINT) AS stage, p.attempt AS again, a.task, a.machine,
  unix_micros(a.start_time) // 1000 AS start_ms, unix_micros(a.finish_time) // 1000 AS finish_ms, o.excess_s,
  coalesce(a.gc_s, 0e0) AS gc_s, coalesce(a.fetch_wait_s, 0e0) AS wait_s, coalesce(w.usual_wait_s, 0e0) AS usual_wait_s,
  coalesce(a.scheduler_delay_s, 0e0) AS delay_s, t.cause, t.confidence
FROM attempts a
  JOIN phases p ON p.phase_id = a.phase_id
  JOIN (SELECT attempt_id, max(excess_s) AS excess_s FROM outliers WHERE rule = 'high_runtime' GROUP BY attempt_id) AS o ON o.attempt_id = a.attempt_id
  LEFT JOIN (SELECT attempt_id, cause, confidence FROM attributions WHERE rank = 1) AS t ON t.attempt_id = a.attempt_id
  LEFT JOIN (SELECT phase_id, median(coalesce(fetch_wait_s, 0e0)) AS usual_wait_s FROM attempts WHERE status = 'success' GROUP BY phase_id) AS w
    ON w.phase_id = a.phase_id
ORDER BY a.attempt_id`

// costlessSQL counts the jobs with outliers that have no cost.
const costlessSQL = `SELECT count(DISTINCT p.job_id) AS n FROM attributions t JOIN phases p ON p.phase_id = t.phase_id
WHERE p.job_id NOT IN (SELECT job_id FROM job_costs WHERE cost_s IS NOT NULL)`

// acted returns the faults that can have made an attempt slow. A fault that acted on its host at other times is not among
// them, and a wait for the blocks of a host behind a slow link is due to that link.
func (w *workTruth) acted(a *worked) (causes []schema.Cause) {
	for _, l := range w.Labels {
		redone := l.Cause == schema.Recompute
		switch {
		case l.StageID != a.Stage, l.Host != nil && *l.Host != a.Machine, l.Partition != nil && *l.Partition != a.Task:
		case l.From != nil && (a.Start >= l.Until || a.Finish <= *l.From):
		case redone && a.Again == 0:
		case l.Cause == schema.GC && a.GC+a.Delay < 0.3*a.Excess:
		case l.Cause == schema.Network && a.Wait < 0.3*a.Excess:
		default:
			causes = append(causes, l.Cause)
		}
	}
	if len(causes) == 0 && a.Excess > 0 && a.Wait-a.UsualWait >= 0.5*a.Excess && len(w.hosts(schema.Network)) > 0 {
		causes = append(causes, schema.Network)
	}
	return causes
}

// hosts returns the hosts that a fault was injected into.
func (w *workTruth) hosts(c schema.Cause) (hosts []string) {
	for _, f := range w.Plan.Faults {
		if f.Cause == c {
			hosts = append(hosts, f.Hosts...)
		}
	}
	return hosts
}

// TestRealWork scores the attribution on Spark programs that compute, with known faults. If a fault explains an outlier, it
// is the verdict; no other attempts are accused of skew, a bad machine, the network or recomputation with a confidence of a
// half. STRAGGLER_REALWORK names a directory of other runs, which are scored without goals.
func TestRealWork(t *testing.T) {
	var paths []string
	if dir := os.Getenv("STRAGGLER_REALWORK"); dir != "" {
		paths = truths(t, dir)
	} else {
		paths = ingesttest.Corpus(t, "realwork/*/truth.json")
	}
	accusations := []schema.Cause{schema.DataSkew, schema.BadMachine, schema.Network, schema.Recompute}
	explained, right, others, accused, unexplained, costless := 0, 0, 0, 0, 0, int64(0)
	for _, path := range paths {
		name := filepath.Base(filepath.Dir(path))
		var truth workTruth
		readTruth(t, path, &truth)
		var named []string
		e, r, o, a, u := explained, right, others, accused, unexplained
		err := attributeLogs(t.Context(), filepath.Dir(path), func(eng engine.Engine) (err error) {
			for task, err := range engine.Read[worked](t.Context(), eng, workedSQL) {
				if err != nil {
					return err
				}
				switch causes := truth.acted(task); {
				case len(causes) > 0:
					explained++
					if slices.Contains(causes, task.Cause.V) {
						right++
					} else {
						t.Logf("%s: %v is not right: %+v", name, causes, *task)
					}
				default:
					others++
					if task.Cause.V == schema.UnexplainedCause {
						unexplained++
					}
					if slices.Contains(accusations, task.Cause.V) && task.Confidence.V >= 0.5 {
						accused++
						t.Logf("%s: accused: %+v", name, *task)
					}
				}
			}
			if named, err = namedIn(t.Context(), eng); err != nil {
				return err
			}
			type jobs struct {
				N int64 `col:"n"`
			}
			for j, err := range engine.Read[jobs](t.Context(), eng, costlessSQL) {
				if err != nil {
					return err
				}
				costless += j.N
			}
			return nil
		})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		bad := truth.hosts(schema.BadMachine)
		t.Logf("%-14s %d of %d explained outliers right, %d of %d others accused, %d unexplained; bad machines %v, named %v",
			name, right-r, explained-e, accused-a, others-o, unexplained-u, bad, named)
		for _, host := range bad {
			if !slices.Contains(named, host) {
				t.Errorf("%s: %s is not named: %v are", name, host, named)
			}
		}
		if len(truth.Plan.Faults) == 0 && len(named) > 0 {
			t.Errorf("%s: nothing was wrong, and %v are named", name, named)
		}
	}
	t.Logf("%d of %d explained outliers right, %d of %d others accused, %d unexplained; %d jobs without a cost", right, explained, accused, others, unexplained, costless)
	if os.Getenv("STRAGGLER_REALWORK") == "" && (explained < 50 || 100*right < 98*explained || 200*accused > others || 4*unexplained > others || costless > 0) {
		t.Error("the goals are 98 % right, at most 0.5 % accused and 25 % of the others unexplained, and a cost for each job")
	}
}
