package spark

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"straggler/schema"
)

// If the values of metrics are removed from a log, the stages of a join are identified by its exchanges as far as these are
// unambiguous, and never differently than by the values.
func TestPlacementByStructure(t *testing.T) {
	same, more := 0, 0
	for name, log := range planLogs(t) {
		if len(log) > 8<<20 {
			continue
		}
		want, got := under(t, 7, log), under(t, 7, withoutValues(t, log))
		type place struct {
			node, phase schema.Key
			role        schema.NodeRole
		}
		with := map[place]bool{}
		placedNodes := map[schema.Key]bool{}
		for _, p := range want.NodePhases {
			with[place{p.NodeID, p.PhaseID, p.Role}] = true
			placedNodes[p.NodeID] = true
		}
		for _, p := range got.NodePhases {
			if p.Basis != schema.ByStructure {
				t.Errorf("%s: placed by values that are not there", name)
			}
			switch {
			case with[place{p.NodeID, p.PhaseID, p.Role}]:
				same++
			case placedNodes[p.NodeID]:
				t.Errorf("%s: operator %d is said to have run in phase %d as %s", name, p.NodeID, p.PhaseID, p.Role)
			default:
				more++
			}
		}
	}
	if len(planLogs(t)) > 5 && same < 100 {
		t.Errorf("%d operators were placed as the values place them", same)
	}
}

func withoutValues(t *testing.T, log []byte) (bare []byte) {
	eachLine(log, func(line []byte) {
		if json.Valid(line) && bytes.Contains(line[:min(len(line), 60)], []byte("Stage")) {
			n := parseTree(t, line)
			n.each(func(n *node) {
				if i := slices.Index(n.keys, "Accumulables"); i >= 0 {
					n.keys, n.elems = slices.Delete(n.keys, i, i+1), slices.Delete(n.elems, i, i+1)
				}
			})
			line = n.write(nil, "")
		}
		bare = append(append(bare, line...), '\n')
	})
	return bare
}
