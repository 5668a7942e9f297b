package report

import (
	"straggler/schema"
)

// facts are the inputs of advice that are not in the document.
type facts struct {
	settings     map[string]schema.Null[string] // NULL where applications differ
	losses       []machineLosses                // most first
	copies, wins int64                          // speculative copies, and those that finished first
	causes       map[schema.Cause]*causeFacts
	leftOut      int64 // applications of the store that the document is not about
	ownSavings   bool  // policies were replayed on those that it is about, not over all
}

// causeFacts summarizes the verdicts for one cause.
type causeFacts struct {
	n, rated   int64
	confidence float64 // sum
	seconds    float64
	machine    string // the one with the most seconds
	most       float64
	mostN      int64 // verdicts on it
}

type machineLosses struct {
	Machine string `col:"machine"`
	Losses  int64  `col:"losses"`
}

// readFacts reads them.
func (b *builder) readFacts() error {
	b.facts.ownSavings = b.o.Savings != nil
	b.facts.settings = map[string]schema.Null[string]{}
	b.facts.causes = map[schema.Cause]*causeFacts{}
	if err := read(b, "verdicts", func(r *struct {
		Cause      schema.Cause `col:"cause"`
		Machine    string       `col:"machine"`
		N          int64        `col:"n"`
		Rated      int64        `col:"rated"`
		Seconds    float64      `col:"seconds"`
		Confidence float64      `col:"confidence"`
	}) error {
		f := b.facts.causes[r.Cause]
		if f == nil {
			f = &causeFacts{machine: r.Machine, most: r.Seconds, mostN: r.N}
			b.facts.causes[r.Cause] = f
		}
		f.n, f.rated = f.n+r.N, f.rated+r.Rated
		f.seconds += r.Seconds
		f.confidence += r.Confidence
		return nil
	}); err != nil {
		return err
	}
	if err := read(b, "left_out", func(r *struct {
		N int64 `col:"n"`
	}) error {
		b.facts.leftOut = r.N
		return nil
	}); err != nil {
		return err
	}
	losses, err := collect[machineLosses](b, "losses")
	if err != nil {
		return err
	}
	b.facts.losses = losses
	if err := read(b, "copies", func(r *struct {
		Copies int64 `col:"copies"`
		Wins   int64 `col:"wins"`
	}) error {
		b.facts.copies, b.facts.wins = r.Copies, r.Wins
		return nil
	}); err != nil {
		return err
	}
	return read(b, "settings", func(s *struct {
		Name  string `col:"name"`
		Value string `col:"value"`
		N     int64  `col:"n"`
	}) error {
		if len(b.facts.settings) < 10000 {
			b.facts.settings[s.Name] = schema.Null[string]{V: s.Value, OK: s.N == 1}
		}
		return nil
	})
}
