package parquet

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"straggler/schema"
)

// Sorted row groups are byte-identical to those of the rows in that order.
func TestSort(t *testing.T) {
	columns := columnsOf[schema.Attempt]()
	by := slices.IndexFunc(columns, func(c schema.Column) bool { return c.Name == "phase_id" })
	for pattern, there := range patterns {
		random := rand.New(rand.NewPCG(1, 2))
		var rows []schema.Attempt
		var groups []*Buffer
		for g := range 3 {
			n := []int{700, 1, 250}[g]
			for i := range n {
				a := schema.Attempt{AttemptID: schema.Key(len(rows)), PhaseID: random.Int64N(40), Number: int32(i),
					NativeID: fmt.Sprint(i), Recompute: i&1 == 1}
				if there(i, n) {
					a.InputBytes, a.DurationS, a.Speculative, a.Machine = some(int64(i)), some(float64(i)/3), some(i&2 == 2), some(fmt.Sprint("m", i%9))
				}
				rows = append(rows, a)
			}
			groups = append(groups, bufferOf(rows[len(rows)-n:], false))
		}
		slices.SortStableFunc(rows, func(a, b schema.Attempt) int { return cmp.Compare(a.PhaseID, b.PhaseID) })
		parts := [][]schema.Attempt{rows[:len(rows)/3], rows[len(rows)/3 : 2*len(rows)/3], rows[2*len(rows)/3:]}
		err := Sort(groups, by, NewBuffer(columns), func(b *Buffer) error {
			var got bytes.Buffer
			w, err := NewWriter(&got, columns, "phase_id")
			if err == nil {
				err = w.WriteRowGroup(b)
			}
			if err == nil {
				err = w.Close()
			}
			if len(parts) == 0 || !bytes.Equal(got.Bytes(), fileOf(t, parts[0], nil, false)) {
				t.Errorf("%s: a row group of %d rows is not that of the sorted rows", pattern, b.Rows())
			}
			parts = parts[min(1, len(parts)):]
			return err
		})
		if err != nil || len(parts) > 0 {
			t.Errorf("%s: %d row groups are left: %v", pattern, len(parts), err)
		}
	}
}
