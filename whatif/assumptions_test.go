package whatif

import (
	"strings"
	"testing"

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
