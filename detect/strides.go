package detect

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"straggler/engine"
)

// The executions of a stage that one is compared with depend only on its place: every k-th before it, counted from the first,
// with a stride k that is a power of two. earlier.sql says why. SQL looks strides up in the table detected_strides.

// lastPlace returns the place of the last execution that is compared by a stride: the one with 64 before it.
func lastPlace(stride int64) int64 { return 64*stride + 1 }

// strideAt returns the stride by which the execution at a place is compared.
func strideAt(place int64) int64 {
	stride := int64(1)
	for lastPlace(stride) < place {
		stride *= 2
	}
	return stride
}

// longestStride returns the longest stride by which others are compared with the execution at a place: task_times.sql.
func longestStride(place int64) int64 {
	if place == 1 {
		return 1 << 62
	}
	return (place - 1) & (1 - place)
}

// comparedLater reports whether executions after the one at a place may be compared with it.
func comparedLater(place int64) bool { return longestStride(place) >= strideAt(place+1) }

// earlierPlaces returns the places of the executions that the one at a place is compared with: earlier.sql.
func earlierPlaces(place int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for p := int64(1); p < place && yield(p); p += strideAt(place) {
		}
	}
}

// mostPlaces is more executions than a stage has.
const mostPlaces = 1 << 40

// loadStrides creates the table detected_strides: for each stride the first and the last place that have it.
func loadStrides(ctx context.Context, eng engine.Engine) error {
	var rows []string
	for first := int64(1); first < mostPlaces; {
		stride := strideAt(first)
		rows = append(rows, fmt.Sprintf("(%d, %d, %d)", first, lastPlace(stride), stride))
		first = lastPlace(stride) + 1
	}
	return eng.Materialize(ctx, "detected_strides", "SELECT CAST(c0 AS BIGINT) AS first_place, CAST(c1 AS BIGINT) AS last_place, CAST(c2 AS BIGINT) AS stride"+
		" FROM (VALUES "+strings.Join(rows, ", ")+") AS t(c0, c1, c2)")
}
