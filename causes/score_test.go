package causes

import (
	"fmt"
	"math"
	"strings"

	"straggler/schema"
)

// truth is the content of a truth.json.
type truth struct {
	Name, Scenario string
	Jobs           []struct {
		Name   string
		Stages []struct {
			ID   int `json:"stage_id"`
			Name string
		}
	}
	Labels []label
}

type label struct {
	Cause        schema.Cause
	StageID      int  `json:"stage_id"`
	StageAttempt *int `json:"stage_attempt"`
	Partition    *int64
	Attempt      *int32
	Host         *string
	NotHost      *string `json:"not_host"`
	Strength     float64
}

// fits reports whether a label selects an attempt.
func (l *label) fits(a *observed) bool {
	return fmt.Sprint(l.StageID) == a.Stage && (l.StageAttempt == nil || int32(*l.StageAttempt) == a.Again) &&
		(l.Partition == nil || *l.Partition == a.Task) && (l.Attempt == nil || *l.Attempt == a.Number) &&
		(l.Host == nil || *l.Host == a.Machine) && (l.NotHost == nil || *l.NotHost != a.Machine)
}

// observed is a successful attempt of a planned stage, with its verdict.
type observed struct {
	Attempt    schema.Key                `col:"attempt_id"`
	Stage      string                    `col:"stage"`
	Again      int32                     `col:"again"`
	Task       int64                     `col:"task"`
	Number     int32                     `col:"number"`
	Machine    string                    `col:"machine"`
	Duration   float64                   `col:"duration_s"`
	Bytes      float64                   `col:"input_bytes"`
	Remote     float64                   `col:"remote_bytes"`
	Wait       float64                   `col:"fetch_wait_s"`
	GC         float64                   `col:"gc_s"`
	Cause      schema.Null[schema.Cause] `col:"cause"`
	Confidence schema.Null[float64]      `col:"confidence"`
	Excess     schema.Null[float64]      `col:"excess_s"`
	Seconds    schema.Null[float64]      `col:"seconds"`

	labels []label
	beside bool    // another host of its stage is made to collect
	ratio  float64 // to the median of the stage over all its submissions
	excess float64
}

// labelled is a run: its truth and the results for its log.
type labelled struct {
	name  string
	truth truth
	tasks []observed
	named []string // machines called slow or flaky
}

// injected are the causes named by labels.
var injected = []schema.Cause{schema.DataSkew, schema.Network, schema.BadMachine, schema.Recompute, schema.GC, schema.Transient,
	schema.Spill, schema.Scheduler, schema.Startup, schema.LocalityMiss}

// A judge gives each attempt of a run a verdict; "" means that it is not an outlier.
type judge struct {
	name   string
	judges func(r *labelled) []schema.Cause
}

var judges = []judge{
	{"causes", func(r *labelled) []schema.Cause {
		out := make([]schema.Cause, len(r.tasks))
		for i := range r.tasks {
			out[i] = r.tasks[i].Cause.V
		}
		return out
	}},
	{"rules", byRules},
	{"ols", byLeastSquares},
}

// score is the result of one judge.
type score struct {
	confusion             map[[2]schema.Cause]int // injected, attributed
	accusations           map[schema.Cause]int    // of clean tasks
	clean, accused        int
	wrong                 []string
	delays                int // clean tasks whose verdict is a measured delay: scheduler, deserialize, spill, locality
	labelledOutliers, hit int
}

// scores are the results of all judges on some runs.
type scores struct {
	by    map[string]*score
	runs  []string
	sure  []float64 // confidence of each scored verdict of causes
	right []bool
}

func newScores() *scores {
	s := &scores{by: map[string]*score{}}
	for _, j := range judges {
		s.by[j.name] = &score{confusion: map[[2]schema.Cause]int{}, accusations: map[schema.Cause]int{}}
	}
	return s
}

func (s *scores) score(r *labelled) {
	s.runs = append(s.runs, r.name)
	for _, j := range judges {
		for i, v := range j.judges(r) {
			a := &r.tasks[i]
			right, counts := s.by[j.name].add(a, v)
			if counts && j.name == "causes" && a.Confidence.OK {
				s.sure, s.right = append(s.sure, a.Confidence.V), append(s.right, right)
			}
		}
	}
}

// add scores a verdict. An attempt counts if it is labelled and an outlier, or recomputed. A verdict is right if it is one of
// the labels; otherwise it is counted against the strongest one.
func (s *score) add(a *observed, v schema.Cause) (right, counts bool) {
	if len(a.labels) == 0 {
		s.clean++
		return s.accuse(a, v)
	}
	strongest, again := a.labels[0], false
	for _, l := range a.labels {
		right = right || l.Cause == v
		again = again || l.Cause == schema.Recompute
		if l.Cause == schema.Recompute || l.Strength > strongest.Strength && strongest.Cause != schema.Recompute {
			strongest = l
		}
	}
	if a.ratio <= 1.5 && !again {
		return false, false
	}
	s.labelledOutliers++
	if v != "" && v != schema.UnexplainedCause {
		s.hit++
	}
	of := strongest.Cause
	if right {
		of = v
	}
	s.confusion[[2]schema.Cause{of, v}]++
	if !right {
		s.miss(a, v)
	}
	return right, true
}

// accuse scores a verdict on an attempt without a label. Network and gc are not accusations if the log's own figure is at
// least 0.4 of the excess; neither is gc if the wait is and another host is made to collect. Startup, transient and
// unexplained are neither right nor wrong.
func (s *score) accuse(a *observed, v schema.Cause) (right, counts bool) {
	switch v {
	case "", schema.Startup, schema.Transient, schema.UnexplainedCause:
		return false, false
	case schema.Network:
		if a.Wait >= 0.4*a.excess {
			return true, false
		}
	case schema.GC:
		if a.GC >= 0.4*a.excess || a.beside && a.Wait >= 0.4*a.excess {
			return true, false
		}
	case schema.Scheduler, schema.Deserialize, schema.Spill, schema.LocalityMiss:
		s.delays++
		return false, false
	}
	s.miss(a, v)
	s.accused++
	s.accusations[v]++
	return false, true
}

func (s *score) miss(a *observed, v schema.Cause) {
	var of []string
	for _, l := range a.labels {
		of = append(of, fmt.Sprintf("%s %.3g", l.Cause, l.Strength))
	}
	s.wrong = append(s.wrong, fmt.Sprintf("stage %s.%d task %d.%d on %s, %.2f s, %.2f times the median, waited %.2f s: %s (%.2f); injected %v",
		a.Stage, a.Again, a.Task, a.Number, a.Machine, a.Duration, a.ratio, a.Wait, v, a.Confidence.V, of))
}

func (s *score) accusedShare() float64 { return float64(s.accused) / float64(max(1, s.clean)) }

// f1 returns precision, recall and their harmonic mean; ok if the cause was injected or named.
func (s *score) f1(c schema.Cause) (precision, recall, f float64, n int) {
	var tp, fp, fn int
	for k, count := range s.confusion {
		switch {
		case k[0] == c && k[1] == c:
			tp += count
		case k[0] == c:
			fn += count
		case k[1] == c:
			fp += count
		}
	}
	fp += s.accusations[c]
	precision, recall = float64(tp)/float64(max(1, tp+fp)), float64(tp)/float64(max(1, tp+fn))
	if tp > 0 {
		f = 2 * float64(tp) / float64(2*tp+fp+fn)
	}
	return precision, recall, f, tp + fn
}

// macroF1 returns the mean F1 of the injected causes.
func (s *score) macroF1() float64 {
	var sum, n float64
	for _, c := range injected {
		if _, _, f, cases := s.f1(c); cases > 0 {
			sum += f
			n++
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return sum / n
}

// String returns a table with precision, recall and F1 for each judge and cause, and the confusion matrix of causes.
func (s *scores) String() string {
	var b strings.Builder
	for _, j := range judges {
		v := s.by[j.name]
		fmt.Fprintf(&b, "  %-7s macro-F1 %.4f, found %d of %d, accused %d of %d clean (%.2f %%), delays named on %d\n", j.name, v.macroF1(),
			v.hit, v.labelledOutliers, v.accused, v.clean, 100*v.accusedShare(), v.delays)
		for _, c := range injected {
			if p, r, f, n := v.f1(c); n > 0 {
				fmt.Fprintf(&b, "          %-12s n %4d  precision %.3f  recall %.3f  F1 %.3f\n", c, n, p, r, f)
			}
		}
	}
	s.by["causes"].matrix(&b)
	if len(s.runs) == 1 {
		for _, w := range s.by["causes"].wrong {
			fmt.Fprintf(&b, "          wrong: %s\n", w)
		}
	}
	return b.String()
}

// matrix writes injected (rows) against attributed (columns), without zeros.
func (s *score) matrix(b *strings.Builder) {
	for _, of := range injected {
		var row []string
		for _, w := range append([]string{""}, schema.Cause("").Values()...) {
			if n := s.confusion[[2]schema.Cause{of, schema.Cause(w)}]; n > 0 {
				if w == "" {
					w = "not an outlier"
				}
				row = append(row, fmt.Sprintf("%s %d", w, n))
			}
		}
		if len(row) > 0 {
			fmt.Fprintf(b, "          injected %-12s → %s\n", of, strings.Join(row, ", "))
		}
	}
}

// calibration compares the confidence of verdicts with how often they are right.
func (s *scores) calibration() string {
	var b strings.Builder
	b.WriteString("  confidence    verdicts  claimed  right\n")
	edges := []float64{0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.01}
	for k := 0; k+1 < len(edges); k++ {
		var n, right int
		var claimed float64
		for i, c := range s.sure {
			if c >= edges[k] && c < edges[k+1] {
				n++
				claimed += c
				if s.right[i] {
					right++
				}
			}
		}
		if n > 0 {
			fmt.Fprintf(&b, "  %.2f to %.2f  %8d  %.3f    %.3f\n", edges[k], min(1, edges[k+1]), n, claimed/float64(n), float64(right)/float64(n))
		}
	}
	return b.String()
}
