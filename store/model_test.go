package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"straggler/schema"
	"straggler/store/storetest"
)

// model is a store in memory: what the real one must show after any sequence of operations.
type model struct {
	inputs  map[schema.Key]modelInput
	results []string // rows of phase_stats, nil for none ever
	version int
}

type modelInput struct {
	ingest string
	native []string // of its attempts
}

// walk applies random operations to a store and to the model, and compares them on the way. One snapshot stays open through
// many operations, so that compactions meet a reader; others are taken for a single comparison.
func walk(t *testing.T, seed uint64, n int) {
	s, err := Open(t.Context(), fastDir(t), Options{fs: osFS{noSync: true}})
	if err != nil {
		t.Fatal(err)
	}
	walkIn(t, s, rand.New(rand.NewPCG(seed, 0)), n, fmt.Sprint("seed ", seed, ":"))
}

func walkIn(t *testing.T, s *Store, rng *rand.Rand, n int, trace string) {
	stays := snapshot(t, s)
	m := &model{inputs: make(map[schema.Key]modelInput)}
	for i := range n {
		trace += " " + m.operation(t, rng, s) + ","
		switch rng.IntN(12) {
		case 0, 1:
			m.compare(t, s, stays, trace)
		case 2:
			once := snapshot(t, s)
			m.compare(t, s, once, trace)
			once.Close()
		case 3:
			stays.Close() // now files can be removed
			if i%2 == 0 {
				trace += " " + m.operation(t, rng, s) + ","
			}
			stays = snapshot(t, s)
		}
	}
	m.compare(t, s, stays, trace)
	m.compare(t, s, snapshot(t, s), trace)
}

func (m *model) operation(t *testing.T, rng *rand.Rand, s *Store) string {
	switch op := rng.IntN(10); {
	case op < 5:
		return m.ingest(t, rng, s)
	case op < 6 && rng.IntN(4) == 0:
		n := rng.IntN(5)
		if err := results(t.Context(), s, n); err != nil {
			t.Fatal(err)
		}
		m.results = make([]string, n)
		return fmt.Sprint("results of ", n)
	case op < 6:
		return m.resume(t, s)
	case op < 7:
		c, err := s.Compact(t.Context(), "test")
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint("compaction of ", c.Commits)
	case op < 8:
		return m.abort(t, s)
	default:
		return m.remove(t, rng, s)
	}
}

// ingest commits one to three inputs, new or known, in new states.
func (m *model) ingest(t *testing.T, rng *rand.Rand, s *Store) string {
	tx, err := s.Begin(t.Context(), Origin{Kind: Log})
	if err != nil {
		t.Fatal(err)
	}
	did := "ingest"
	keys := rng.Perm(6)[:1+rng.IntN(3)]
	for _, k := range keys {
		key := schema.Key(k + 1)
		m.version++
		rows := storetest.Attempts(key, rng.IntN(30))
		in := modelInput{}
		for i := range rows {
			rows[i].NativeID = fmt.Sprintf("%d-%d-%d", key, m.version, i)
			in.native = append(in.native, rows[i].NativeID)
		}
		if err := Append(tx, key, rows); err != nil {
			t.Fatal(err)
		}
		if err := tx.Input(InputRecord{Name: fmt.Sprint("log-", key), Key: KeyText(key), Fingerprint: fmt.Sprint(m.version)}); err != nil {
			t.Fatal(err)
		}
		if _, known := m.inputs[key]; known {
			tx.Retire(key)
		}
		m.inputs[key] = in
		did += fmt.Sprintf(" %d(%d)", key, len(rows))
	}
	id := tx.ID()
	if err := Append(tx, 0, []schema.Ingest{{IngestID: id, Files: int64(len(keys))}}); err != nil {
		t.Fatal(err)
	}
	c, err := tx.Commit(t.Context())
	if err != nil {
		t.Fatal(did, err)
	}
	if c.ID != id {
		t.Fatalf("the ingest has id %s and was told %s", c.ID, id)
	}
	for _, k := range keys {
		in := m.inputs[schema.Key(k+1)]
		in.ingest = id
		m.inputs[schema.Key(k+1)] = in
	}
	return did
}

// resume updates results: a row for each attempt, computed only for new and changed inputs.
func (m *model) resume(t *testing.T, s *Store) string {
	n, err := resume(t.Context(), s, false)
	if err != nil {
		t.Fatal(err)
	}
	m.results = []string{"all"}
	for _, in := range m.inputs {
		m.results = append(m.results, in.native...)
	}
	slices.Sort(m.results)
	return fmt.Sprint("results resumed with ", n)
}

func (m *model) abort(t *testing.T, s *Store) string {
	tx, err := s.Begin(t.Context(), Origin{Kind: Log})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(Append(tx, 99, storetest.Attempts(99, 20)), tx.Abort()); err != nil {
		t.Fatal(err)
	}
	return "abort"
}

// remove removes the ingest of a random visible input, or one that does not exist.
func (m *model) remove(t *testing.T, rng *rand.Rand, s *Store) string {
	var ids []string
	for _, in := range m.inputs {
		ids = append(ids, in.ingest)
	}
	if len(ids) == 0 {
		if _, err := s.Remove(t.Context(), "nothing", "test"); err == nil {
			t.Fatal("an ingest that is not there was removed")
		}
		return "removal of nothing"
	}
	slices.Sort(ids)
	id := ids[rng.IntN(len(ids))]
	if _, err := s.Remove(t.Context(), id, "test"); err != nil {
		t.Fatal(err)
	}
	for key, in := range m.inputs {
		if in.ingest == id {
			delete(m.inputs, key)
		}
	}
	return "removal of " + id
}

func (m *model) compare(t *testing.T, s *Store, shows *Snapshot, trace string) {
	t.Helper()
	var native, ingests []string
	for _, in := range m.inputs {
		native = append(native, in.native...)
		ingests = append(ingests, in.ingest)
	}
	slices.Sort(native)
	slices.Sort(ingests)
	if err := shows.Follow(t.Context()); err != nil {
		t.Fatal(trace, err)
	}
	var gotNative, gotIngests []string
	for _, r := range rowsOf[schema.Attempt](t, shows) {
		gotNative = append(gotNative, r.NativeID)
	}
	for _, r := range rowsOf[schema.Ingest](t, shows) {
		gotIngests = append(gotIngests, r.IngestID)
	}
	slices.Sort(gotNative)
	slices.Sort(gotIngests)
	if !slices.Equal(gotNative, native) {
		t.Fatalf("%s\nthe store has %d attempts and the model %d:\n%v\n%v", trace, len(gotNative), len(native), gotNative, native)
	}
	if !slices.Equal(gotIngests, slices.Compact(ingests)) {
		t.Fatalf("%s\nthe store has the ingests\n%v\nand the model\n%v", trace, gotIngests, ingests)
	}
	var gotResults []string
	for _, r := range rowsOf[schema.PhaseStats](t, shows) {
		gotResults = append(gotResults, r.Note.V)
	}
	slices.Sort(gotResults)
	if !slices.Equal(gotResults, m.results) {
		t.Fatalf("%s\nthe store has the results\n%v\nand the model\n%v", trace, gotResults, m.results)
	}
	if c, err := s.Result(t.Context(), Detect); err != nil || (c != nil) != (m.results != nil) {
		t.Fatalf("%s\nthe results are %v, %v", trace, c, err)
	}
	found, err := s.Verify(t.Context())
	if err != nil {
		t.Fatal(trace, err)
	}
	for _, f := range found {
		t.Fatalf("%s\n%+v", trace, f)
	}
	inputs, err := s.Inputs(t.Context())
	if err != nil || len(inputs) != len(m.inputs) {
		t.Fatalf("%s\nthe store has %d inputs and the model %d, %v", trace, len(inputs), len(m.inputs), err)
	}
}

func TestRandomLives(t *testing.T) {
	for seed := range uint64(6) {
		walk(t, seed, 35)
	}
}
