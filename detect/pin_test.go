package detect

import (
	"fmt"
	"math"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"straggler/engine"
	"straggler/engine/engines"
)

// far is an engine that rows have to be handed to as text.
type far struct{ engine.Engine }

func (far) Name() string { return "far" }

// What is pinned are the rows of the table, every bit of them, however many statements they take.
func TestPin(t *testing.T) {
	n := newNight(t)
	own, err := engines.Open(t.Context(), n.Store, engine.Options{Threads: 2, MemoryBytes: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { own.Close() })
	for _, rows := range []int{0, 1, 2, pinnedAtOnce, pinnedAtOnce + 1, 2*pinnedAtOnce + 3} {
		t.Run(fmt.Sprint(rows), func(t *testing.T) {
			from, name := fmt.Sprintf("from_%d", rows), fmt.Sprintf("pinned_%d", rows)
			some := func(x string) string { return "CASE WHEN i % 3 = 0 THEN NULL ELSE " + x + " END" }
			sql := fmt.Sprintf("SELECT CAST(%d - i * 7919 AS BIGINT) AS phase_id, i AS succeeded, %s AS median_s, %s AS p95_s FROM range(%d) AS r(i)",
				int64(math.MaxInt64), some("exp(i / 30.0 - 300) / 3"), "CASE WHEN i % 2 = 0 THEN -1.0 / 3 / i ELSE NULL END", rows)
			if err := own.Materialize(t.Context(), from, sql); err != nil {
				t.Fatal(err)
			}
			if err := pin[taskMedian](t.Context(), far{own}, name, from); err != nil {
				t.Fatal(err)
			}
			read := func(name string) (out []taskMedian) {
				for r, err := range engine.Read[taskMedian](t.Context(), own, "SELECT * FROM "+name+" ORDER BY phase_id") {
					if err != nil {
						t.Fatal(err)
					}
					out = append(out, *r)
				}
				return out
			}
			want := read(from)
			if len(want) != rows {
				t.Fatalf("%d rows", len(want))
			}
			if diff := gocmp.Diff(want, read(name)); diff != "" {
				t.Errorf("%.2000s", diff)
			}
		})
	}
}
