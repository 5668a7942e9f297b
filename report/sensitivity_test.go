package report

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"straggler/report/reporttest"
)

// scaled returns the thresholds with one of them multiplied, by name. Of factors it is the distance from 1 that is multiplied,
// and of confidences divided, so that they stay what they are.
func scaled(by float64) map[string]thresholds {
	out := map[string]thresholds{}
	for name, change := range map[string]func(*thresholds){
		"worth":         func(t *thresholds) { t.worth *= by },
		"worthJob":      func(t *thresholds) { t.worthJob *= by },
		"surelySlow":    func(t *thresholds) { t.surelySlow = 1 + by*(t.surelySlow-1) },
		"clearlySlow":   func(t *thresholds) { t.clearlySlow = 1 + by*(t.clearlySlow-1) },
		"enoughPhases":  func(t *thresholds) { t.enoughPhases = int64(by * float64(t.enoughPhases)) },
		"enoughTasks":   func(t *thresholds) { t.enoughTasks = int64(by * float64(t.enoughTasks)) },
		"manySlow":      func(t *thresholds) { t.manySlow = int(by * float64(t.manySlow)) },
		"manyShare":     func(t *thresholds) { t.manyShare = int64(by * float64(t.manyShare)) },
		"mainPart":      func(t *thresholds) { t.mainPart *= by },
		"mentionedPart": func(t *thresholds) { t.mentionedPart *= by },
		"latePart":      func(t *thresholds) { t.latePart *= by },
		"mostlyRight":   func(t *thresholds) { t.mostlyRight = 1 - (1-t.mostlyRight)/by },
		"oftenRight":    func(t *thresholds) { t.oftenRight = 1 - (1-t.oftenRight)/by },
	} {
		t := usualThresholds()
		change(&t)
		out[name] = t
	}
	return out
}

// TestAdviceSensitivity prints what half and twice of each threshold changes in the advice on the labelled logs: the table of
// thresholds.go. It needs STRAGGLER_SENSITIVITY=advice.
func TestAdviceSensitivity(t *testing.T) {
	if os.Getenv("STRAGGLER_SENSITIVITY") != "advice" {
		t.Skip("STRAGGLER_SENSITIVITY is not advice")
	}
	logs, err := filepath.Glob(filepath.Join("..", "testdata", "labelled", "*"))
	reporttest.Check(t, err)
	usual, given := map[string]Confidence{}, 0
	changed := map[string]*[3]int{} // appeared, gone, of another confidence; by threshold and factor
	for _, log := range logs {
		if !t.Run(filepath.Base(log), func(t *testing.T) {
			b := &builder{ctx: t.Context(), eng: reporttest.Labelled(t, filepath.Base(log)), o: Options{Top: topOutliers},
				doc: &Document{}, apps: topApps, copied: copiedAttempts}
			d, err := b.build()
			reporttest.Check(t, err)
			clear(usual)
			for _, a := range d.Advice {
				usual[a.Rule+": "+a.Title] = a.Confidence
			}
			given += len(usual)
			for _, by := range []float64{0.5, 2} {
				for name, with := range scaled(by) {
					at := fmt.Sprintf("%s × %g", name, by)
					if changed[at] == nil {
						changed[at] = new([3]int)
					}
					compareAdvice(changed[at], usual, adviseBy(with, d, &b.facts))
				}
			}
		}) {
			return
		}
	}
	t.Logf("%d pieces of advice on %d logs", given, len(logs))
	for _, name := range slices.Sorted(maps.Keys(scaled(1))) {
		t.Logf("%-14s %v %v", name, *changed[name+" × 0.5"], *changed[name+" × 2"])
	}
}

func compareAdvice(changed *[3]int, usual map[string]Confidence, with []Advice) {
	still := 0
	for _, a := range with {
		switch was, ok := usual[a.Rule+": "+a.Title]; {
		case !ok:
			changed[0]++
		default:
			still++
			if was != a.Confidence {
				changed[2]++
			}
		}
	}
	changed[1] += len(usual) - still
}
