package whatif

import (
	"strings"
	"testing"

	"straggler/whatif/schedule"
	"straggler/whatif/workload"
)

// What a policy cannot do on a log is said of the age that it looks at: LATE's of tasks, Hadoop's of jobs.
func TestIdle(t *testing.T) {
	for _, test := range []struct {
		policy string
		notes  workload.Notes
		says   string // "": nothing
	}{
		{"late", workload.Notes{LongestS: 36, LongestJobS: 90}, "late looks at tasks that have run for 60 s, and none took longer than 36 s"},
		{"late", workload.Notes{LongestS: 61, LongestJobS: 90}, ""},
		{"hadoop", workload.Notes{LongestS: 36, LongestJobS: 90}, ""},
		{"hadoop", workload.Notes{LongestS: 36, LongestJobS: 50}, "hadoop makes no copy in the first 60 s of a job, and none took longer than 50 s"},
		{"hadoop", workload.Notes{LongestS: 36, LongestJobS: 50, JobsWithoutEnd: 1}, ""},
		{"dolly", workload.Notes{MostSlots: 39}, "dolly may use 5 % of at most 39 slots"},
		{"dolly", workload.Notes{MostSlots: 40}, ""},
	} {
		got := strings.Join(idle(&test.notes, &Variant{Policy: known(test.policy)}), "\n")
		if test.says == "" && got != "" || !strings.HasPrefix(got, test.says) {
			t.Errorf("%s, %+v: %q, want %q", test.policy, test.notes, got, test.says)
		}
	}
}

// A policy that made copies, or may under another scheduler, is not said to be able to do nothing, and no budget is named that gives
// no clone either.
func TestIdleOnlyWithoutCopies(t *testing.T) {
	fifo, err := schedule.ByName("fifo")
	if err != nil {
		t.Fatal(err)
	}
	s := Summary{Seeds: 2, Notes: workload.Notes{LongestS: 36, LongestJobS: 50, MostSlots: 4}}
	for _, name := range []string{"late", "hadoop", "dolly"} {
		for _, test := range []struct {
			r    Result
			idle bool
		}{
			{Result{Variant: Variant{Policy: known(name)}}, true},
			{Result{Variant: Variant{Policy: known(name)}, All: Group{Copies: 0.5}}, false},
			{Result{Variant: Variant{Policy: known(name), Scheduler: fifo}}, false},
		} {
			text := strings.Join(s.notes(&test.r), "\n")
			if got := strings.Contains(text, "it can do nothing here"); got != test.idle {
				t.Errorf("%s with %g copies, another scheduler %v: %s", name, test.r.All.Copies, test.r.Scheduler.Other(), text)
			}
		}
	}
	// with half of 16 slots, two for each task are enough for four tasks
	for slots, want := range map[int]string{16: " With --set dolly.budget=0.5 it may clone phases of fewer than 5 tasks.", 3: "here."} {
		notes := workload.Notes{MostSlots: slots}
		if text := strings.Join(idle(&notes, &Variant{Policy: known("dolly")}), ""); !strings.HasSuffix(text, want) {
			t.Errorf("%d slots: %s", slots, text)
		}
	}
}
