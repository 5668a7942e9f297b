package store

import (
	"fmt"
	"slices"
	"testing"

	"straggler/schema"
	"straggler/store/storetest"
)

// TestSlicesOfResults: the slices of results for some inputs contain the rows computed from these alone, whatever commits they
// are in.
func TestSlicesOfResults(t *testing.T) {
	s := testStore(t)
	for night, inputs := range [][]schema.Key{{1, 2, 3}, {4, 5}} {
		for _, in := range inputs {
			ingest(t, s, in, storetest.Attempts(in, 2))
		}
		if _, err := resume(t.Context(), s, night > 0); err != nil {
			t.Fatal(err)
		}
	}
	n := snapshot(t, s)
	for _, inputs := range [][]schema.Key{{1}, {2, 3}, {4, 5}, {1, 4, 5}, {1, 2, 3, 4, 5}} {
		rows := map[schema.Key]int{}
		parts, err := n.SlicesOf("phase_stats", inputs)
		if err != nil {
			t.Fatal(err)
		}
		for _, sl := range parts {
			err := n.scan(t.Context(), schema.TableOf[schema.PhaseStats](), sl, func(from schema.Key, batch schema.Batch) error {
				if sl.Chosen == nil || slices.Contains(sl.Chosen, from) {
					stats, _ := schema.RowsOf[schema.PhaseStats](batch)
					rows[from] += len(stats)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		want := map[schema.Key]int{}
		for _, in := range inputs {
			want[in] = 2
		}
		if fmt.Sprint(rows) != fmt.Sprint(want) {
			t.Errorf("of %v there are %v rows by input", inputs, rows)
		}
	}
}
