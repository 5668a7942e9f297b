package detect

import (
	"testing"

	"straggler/engine"
)

// An attempt of which nothing says whether it recomputes a lost output is not compared with other attempts, as in
// candidates.sql, nor taken for a recomputation, as in outliers.sql.
func TestRecomputeUnknown(t *testing.T) {
	const rows = 3
	b := engine.Batch{Len: rows, Columns: make([]engine.Vector, 18)}
	for i := range b.Columns {
		c := &b.Columns[i]
		c.Int64s, c.Int32s, c.Float64s, c.Bools = make([]int64, rows), make([]int32, rows), []float64{1, 1, 1}, make([]bool, rows)
	}
	b.Columns[14].Bools = []bool{true, true, true} // succeeded
	b.Columns[17] = engine.Vector{Valid: []uint64{0b101}, Bools: []bool{false, false, true}}
	var a attempts
	a.read(&b)
	var compared taskRows
	compared = compared.ofAttempts(&a)
	for i, want := range []struct{ compared, recompute bool }{{true, false}, {false, false}, {false, true}} {
		if is := compared.mark[i]&timeRecompute == 0; is != want.compared {
			t.Errorf("row %d is compared: %v", i, is)
		}
		if is := a.flags[i]&recompute != 0; is != want.recompute {
			t.Errorf("row %d recomputes: %v", i, is)
		}
	}
}
