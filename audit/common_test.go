package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"straggler/audit/measure"
	"straggler/schema"
)

// rackNight is slowNight with two racks of five machines, alternating within each node, and with what its tasks have in
// common.
func rackNight(r *rand.Rand, n int, racks bool, slow func(machine, stage int) (factor, waiting float64)) measure.Run {
	run := slowNight(r, n, slow)
	for k := range run.Stages {
		s := &run.Stages[k]
		for i := range s.Parts {
			p := &s.Parts[i]
			bin := int64(math.Floor(10 * math.Log(p.MedianS)))
			s.Shared = append(s.Shared, measure.Shared{Dimension: "machine", Value: p.Machine, Bin: bin, Tasks: p.Tasks},
				measure.Shared{Dimension: "stage", Bin: bin, Tasks: p.Tasks})
			if racks {
				p.Rack = fmt.Sprint("rack", i%2)
				s.Shared = append(s.Shared, measure.Shared{Dimension: "rack", Value: p.Rack, Bin: bin, Tasks: p.Tasks})
			}
		}
		s.ApplicationKey = schema.Key(k + 1)
	}
	return run
}

// If all machines of a rack are slow, the rack is found and none of its machines; if one of them is, the machine is. In both
// cases the audit says what slow tasks have in common.
func TestRacks(t *testing.T) {
	usual := func(int, int) (float64, float64) { return 1, 0 }
	rack := func(waiting float64) func(m, k int) (float64, float64) {
		return func(m, _ int) (float64, float64) {
			if m%2 == 1 {
				return 2.2, waiting
			}
			return 1, 0
		}
	}
	one := func(m, _ int) (float64, float64) {
		if m == 7 {
			return 2.2, 0.9
		}
		return 1, 0
	}
	for _, c := range []struct {
		name         string
		racks        bool
		slow         func(m, k int) (float64, float64)
		found        []string
		kind, common string
	}{
		{"as usual", true, usual, nil, "", "[]"},
		{"a rack that waits", true, rack(0.9), []string{"rack rack1"}, "network", "[rack [rack1]]"},
		{"a rack without waiting", true, rack(0), []string{"rack rack1"}, "", "[rack [rack1]]"},
		{"a machine", true, one, []string{"machine node1-container-7"}, "disk", "[machine [node1-container-7]]"},
		{"machines of no known rack", false, rack(0.9),
			[]string{"machine node0-container-1", "machine node0-container-3", "machine node1-container-5",
				"machine node1-container-7", "machine node1-container-9"}, "disk",
			"[machine [node0-container-1 node0-container-3 node1-container-5 node1-container-7 node1-container-9]]"},
		{"all", true, func(int, int) (float64, float64) { return 2.2, 0.9 }, []string{"nearly all machines"}, "shared", "[]"},
		{"all but two", true, func(m, _ int) (float64, float64) {
			if m < 2 {
				return 1, 0
			}
			return 2.2, 0.9
		}, []string{"nearly all machines"}, "shared", "[]"},
		{"all, and one more", true, func(m, _ int) (float64, float64) {
			if m == 7 {
				return 6, 0.9
			}
			return 2.2, 0.9
		}, []string{"machine node1-container-7", "nearly all machines"}, "shared", "[]"},
	} {
		r := rand.New(rand.NewPCG(6, 6))
		var history []*measure.Run
		for n := range 20 {
			night := rackNight(r, n, c.racks, usual)
			history = append(history, &night)
		}
		tonight := rackNight(r, 20, c.racks, c.slow)
		s, machines := slowness(&tonight, history, measure.Match(&tonight, history))
		var common []string
		for _, f := range s.InCommon[:min(1, len(s.InCommon))] {
			common = append(common, fmt.Sprint(f.Dimension, " ", f.Values))
		}
		if c.kind != "" && s.Kind != c.kind || fmt.Sprint(common) != c.common {
			t.Errorf("%s: kind %q, in common %v, want %q, %s", c.name, s.Kind, s.InCommon, c.kind, c.common)
		}
		findings, p := newMachines(&tonight, history, DefaultConfig(), func(string, *measure.Run) bool { return false }, machines, s)
		var found []string
		for i, q := range discoveries(p) {
			if findings[i].ID != "" && q <= 0.02 {
				found = append(found, findings[i].where())
			}
		}
		if slices.Sort(found); !slices.Equal(found, c.found) {
			t.Errorf("%s: found %q, want %q", c.name, found, c.found)
		}
	}
}
