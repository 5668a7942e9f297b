package live

import (
	"math/rand/v2"
	"testing"
	"time"

	"straggler/schema"
)

// An executor that reports every 10 s is polled every 2 to 4 s. After two minutes the time of its last report is known to a
// second, and never wrongly, even after the times of its reports have shifted. If the interval is unknown, nothing is
// narrowed.
func TestHeartbeatsAreLearned(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		const interval = 10 * time.Second
		phase := schema.Time(rng.Int64N(10_000_000))
		var h heartbeat
		now, jumped := schema.Time(100_000_000), false
		learned := schema.Time(1 << 40)
		for now < 500_000_000 {
			was := now
			now += 2_000_000 + schema.Time(rng.Int64N(2_000_000))
			if now > 250_000_000 && !jumped {
				phase, jumped, learned = phase+4_000_000, true, 1<<40
				continue
			}
			beat := (now-phase)/10_000_000*10_000_000 + phase
			if beat <= was { // no report since
				continue
			}
			from, to := h.last(was, now, interval)
			late := jumped && now < 350_000_000
			if from < was || to > now || !late && (beat < from-exact || beat > to+exact) {
				t.Fatalf("it reported at %d, and not between %d and %d", beat, from, to)
			}
			learned = min(learned, to-from)
		}
		if learned > 1_000_000 {
			t.Fatalf("reports are known to %d µs", learned)
		}
		if from, to := h.last(1, 5_000_000, 0); from != 1 || to != 5_000_000 {
			t.Fatalf("without an interval it is between %d and %d", from, to)
		}
	}
}
