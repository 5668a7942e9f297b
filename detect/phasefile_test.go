package detect

import (
	"math"
	"math/rand/v2"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"straggler/schema"
)

// Values written to the file are read back unchanged, whatever they are and however far apart.
func TestPhaseFile(t *testing.T) {
	var file phaseFile
	defer file.close()
	r := rand.New(rand.NewPCG(7, 61))
	whole := func() float64 { return float64(r.Uint64() >> r.IntN(64)) }
	odd := []float64{math.NaN(), -1, 0, 0.5, math.MaxUint32, 1 << 32, math.MaxInt64, math.Inf(1)}
	widths := make(map[timeWidths]bool)
	var buf []byte
	for range 2000 {
		var want taskRows
		slow := make([]slowAttempt, r.IntN(3))
		for i := range slow {
			slow[i] = slowAttempt{schema.Key(r.Int64()), r.NormFloat64(), math.NaN(), uint8(r.IntN(4))}
			if i > 0 && r.IntN(2) == 0 { // by two rules, with the same excess or another
				slow[i].id = slow[0].id
				slow[i].excess = float64(r.IntN(2))
				slow[0].excess = float64(r.IntN(2))
			}
		}
		of, shift := r.IntN(8), [4]int{r.IntN(64), r.IntN(64), r.IntN(64), r.IntN(64)}
		numbered, seconds := r.IntN(2) == 0, r.ExpFloat64
		if r.IntN(2) == 0 {
			seconds = func() float64 { return ofMicros(uint32(r.Uint64() >> r.IntN(64))) }
			if r.IntN(3) == 0 { // the first one that takes 8 bytes
				odd := 4294.967295 + float64(r.IntN(2))/1e6
				seconds = func() float64 { return odd }
			}
		}
		for range r.IntN(20) {
			task := int64(r.Uint64()>>shift[1]) - 1
			want.attempt, want.task = append(want.attempt, int64(r.Uint64()>>shift[0])-1000), append(want.task, task)
			if numbered {
				want.attempt[len(want.attempt)-1] = task + 77
			}
			want.duration = append(want.duration, seconds())
			bytes, records := float64(r.Uint64()>>shift[2]), whole()
			switch of {
			case 0:
				bytes, records = math.NaN(), math.NaN()
			case 1:
				bytes, records = odd[r.IntN(len(odd))], odd[r.IntN(len(odd))]
			}
			want.bytes, want.records = append(want.bytes, bytes), append(want.records, records)
			want.mark = append(want.mark, byte(r.IntN(1+of%2)))
		}
		b := appendSlow(nil, slow)
		at := int64(len(b))
		b, w := want.appendTo(b)
		widths[w] = true
		from, err := file.append(b)
		if err != nil {
			t.Fatal(err)
		}
		phase := scannedPhase{slow: at, times: phaseTimes{at: from + at, rows: uint32(want.len()), widths: w}}
		if size := int64(phase.times.size()); phase.times.at+size != file.end {
			t.Fatalf("%d bytes of times, want %d", size, file.end-phase.times.at)
		}
		var got taskRows
		if err := file.readTimes(&phase.times, &got, &buf); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, got, gocmp.AllowUnexported(taskRows{}), sameBits, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		found, err := file.readSlow(&phase, nil, &buf)
		if diff := gocmp.Diff(slow, found, gocmp.AllowUnexported(slowAttempt{}), sameBits, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Fatal(diff, err)
		}
	}
	if len(widths) < 100 {
		t.Errorf("columns of %d widths", len(widths))
	}
}
