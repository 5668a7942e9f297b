package workload

import (
	"context"
	"testing"
)

// A SWIM job's reduces read its shuffle, whatever its maps read; many have maps without input that make some.
func TestSWIMShuffle(t *testing.T) {
	w, err := ParseFile("swim.yaml", []byte(`
name: swim
cluster: {machines: 4, racks: 2, map_slots: 2}
jobs: [{swim: jobs.tsv, map_s: 1, reduces: 4, reduce_s: 1, scale: 0.5}]
`))
	if err != nil {
		t.Fatal(err)
	}
	sizes := []Size{{Name: "reads", Input: 640e6, Shuffle: 80e6}, {Name: "makes", Shuffle: 80e6}, {Name: "keeps", Input: 64e6}}
	plan, err := w.Plan(t.Context(), 1, Source{SWIM: func(context.Context, string) ([]Size, error) { return sizes, nil }})
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range []struct{ maps, reduces, fetched int }{{5, 4, 40e6}, {1, 4, 40e6}, {1, 0, 0}} {
		j := plan.Jobs[n]
		var reduces []PlanTask
		if len(j.Phases) > 1 {
			reduces = j.Phases[1].Tasks
		}
		fetched := int64(0)
		for _, r := range reduces {
			fetched += r.Bytes
		}
		if len(j.Phases[0].Tasks) != want.maps || len(reduces) != want.reduces || fetched != int64(want.fetched) {
			t.Errorf("%s: %d maps, %d reduces that fetch %d bytes, want %+v", j.Name, len(j.Phases[0].Tasks), len(reduces), fetched, want)
		}
	}
}
