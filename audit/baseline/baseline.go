package baseline

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"straggler/audit/measure"
)

var (
	// ErrUnreadable is returned when a baseline file cannot be read.
	ErrUnreadable = errors.New("unreadable baseline")
	// ErrChanged is returned by Save when the file changed after it was read.
	ErrChanged = errors.New("the baseline was changed while the audit ran")
)

// Baseline is the last runs of each group, the open findings, and the decisions.
//
// Its file has one JSON object per line: a header, then decisions, open findings, and runs, each followed by its stages. They are
// sorted, so that the diff of a night consists of added lines. Two files merged line by line (git's merge=union) are the union of
// both; of several lines about the same thing the last one counts.
type Baseline struct {
	Runs      []measure.Run // in order
	Open      []Open
	Decisions []Decision

	read []byte // as it was
}

// Open is a finding that was open when the baseline was last updated.
type Open struct {
	ID      string `json:"id"`
	Group   string `json:"group"`
	Rule    string `json:"rule"`
	Subject string `json:"subject"`
	First   string `json:"first"` // start of the run that showed it first
	Last    string `json:"last"`
}

// Decision marks a finding as normal from a run on.
type Decision struct {
	ID      string `json:"id"`
	Subject string `json:"subject"`
	From    string `json:"from"` // start of the first run that counts as normal
	On      string `json:"on"`   // the day of the decision
	Reason  string `json:"reason,omitempty"`
}

// Add adds runs to their groups, replacing runs with the same key, and drops the oldest runs of each group beyond keep.
func (b *Baseline) Add(keep int, runs ...measure.Run) {
	at := make(map[string]int, len(b.Runs))
	for i := range b.Runs {
		at[b.Runs[i].Key()] = i
	}
	for _, r := range runs {
		if i, ok := at[r.Key()]; ok {
			b.Runs[i] = r
			continue
		}
		at[r.Key()] = len(b.Runs)
		b.Runs = append(b.Runs, r)
	}
	b.sort()
	count := map[string]int{}
	for i := range b.Runs {
		count[b.Runs[i].Group]++
	}
	b.Runs = slices.DeleteFunc(b.Runs, func(x measure.Run) bool {
		count[x.Group]--
		return count[x.Group] >= keep
	})
}

// Decide adds a decision; of several about a finding the one for the latest run counts.
func (b *Baseline) Decide(d Decision) { b.Decisions = append(b.Decisions, d) }

// Reopen adds an open finding; if it is open already, the time in which it was seen is extended.
func (b *Baseline) Reopen(o Open) { b.Open = append(b.Open, o) }

// sort sorts everything into the order of the file and removes duplicates.
func (b *Baseline) sort() {
	slices.SortStableFunc(b.Decisions, func(x, y Decision) int { return cmp.Or(cmp.Compare(x.ID, y.ID), cmp.Compare(x.From, y.From)) })
	var decisions []Decision
	for _, d := range b.Decisions {
		if n := len(decisions) - 1; n >= 0 && decisions[n].ID == d.ID {
			decisions[n] = d
		} else {
			decisions = append(decisions, d)
		}
	}
	b.Decisions = decisions
	slices.SortStableFunc(b.Open, func(x, y Open) int {
		return cmp.Or(cmp.Compare(x.Group, y.Group), cmp.Compare(x.ID, y.ID))
	})
	var open []Open
	for _, o := range b.Open {
		if n := len(open) - 1; n >= 0 && open[n].ID == o.ID {
			open[n].First, open[n].Last = min(open[n].First, o.First), max(open[n].Last, o.Last)
		} else {
			open = append(open, o)
		}
	}
	b.Open = open
	slices.SortStableFunc(b.Runs, func(x, y measure.Run) int {
		if measure.Before(&x, &y) {
			return -1
		}
		if measure.Before(&y, &x) {
			return 1
		}
		return 0
	})
	for i := range b.Runs {
		s := b.Runs[i].Stages
		slices.SortStableFunc(s, func(x, y measure.Stage) int {
			if x.Signature.Less(y.Signature) {
				return -1
			}
			if y.Signature.Less(x.Signature) {
				return 1
			}
			return 0
		})
		b.Runs[i].Stages = slices.CompactFunc(s, func(x, y measure.Stage) bool { return x.WithoutOperator() == y.WithoutOperator() })
	}
}

// OneLine returns a text with all white space, such as line ends, replaced by single spaces.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
