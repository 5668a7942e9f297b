package extsort

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

func clone(r Record) Record { return Record{r.Key, bytes.Clone(r.Payload)} }

func records(n int) []Record {
	rng := rand.New(rand.NewPCG(1, 2))
	rs := make([]Record, n)
	for i := range rs {
		rs[i].Key = Key{rng.Int64N(10) - 5, rng.Int64N(10), rng.Int64N(1000), 0}
		rs[i].Payload = make([]byte, rng.IntN(40))
		for j := range rs[i].Payload {
			rs[i].Payload[j] = byte(rng.IntN(256))
		}
	}
	return rs
}

// Whatever the order of adding and the size of chunks, the records come out as sorted by a sort of all of them.
func TestMergeEqualsSort(t *testing.T) {
	for _, n := range []int{0, 1, 2, 5000, 50_000} {
		rs := records(n)
		want := slices.Clone(rs)
		slices.SortFunc(want, Compare)
		rand.New(rand.NewPCG(3, 4)).Shuffle(n, func(i, j int) { rs[i], rs[j] = rs[j], rs[i] })
		for _, limit := range []int{1, 1 << 20, 1 << 30} {
			dir := t.TempDir()
			s := New(dir, limit)
			for _, r := range rs {
				if err := s.Add(r.Key, r.Payload); err != nil {
					t.Fatal(err)
				}
			}
			if limit == 1 && n == 50_000 && len(s.runs) < 10 {
				t.Errorf("only %d runs: the test does not merge", len(s.runs))
			}
			var got []Record
			for r, err := range s.Merge() {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, clone(r))
			}
			if !slices.EqualFunc(got, want, func(a, b Record) bool { return Compare(a, b) == 0 }) {
				t.Errorf("n %d, limit %d: not in order, or not all of %d but %d", n, limit, n, len(got))
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		}
	}
}

// TestKeysOfEveryWidth sorts keys whose parts fit into a word together, and keys whose parts do not.
func TestKeysOfEveryWidth(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	ends := []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64}
	for name, key := range map[string]func(i int) Key{
		"all alike":               func(int) Key { return Key{3, -4, 5, 6} },
		"in order":                func(i int) Key { return Key{int64(i / 100), int64(i), 7, 0} },
		"backwards":               func(i int) Key { return Key{-int64(i), 1, 2, 3} },
		"narrow":                  func(int) Key { return Key{1<<40 + rng.Int64N(16), rng.Int64N(16), rng.Int64N(16), rng.Int64N(16)} },
		"more than 64 bits":       func(int) Key { return Key{rng.Int64N(4), rng.Int64N(1 << 40), rng.Int64N(1 << 40), rng.Int64()} },
		"the first takes all":     func(int) Key { return Key{int64(rng.Uint64N(8) << 61), rng.Int64N(3), 0, rng.Int64N(3)} },
		"the least, the greatest": func(int) Key { return Key{ends[rng.IntN(6)], ends[rng.IntN(6)], ends[rng.IntN(6)], ends[rng.IntN(6)]} },
	} {
		t.Run(name, func(t *testing.T) {
			var want []Record
			s := New(t.TempDir(), 1<<20)
			defer s.Close()
			for i := range 5000 {
				r := Record{key(i), []byte{byte(rng.IntN(4))}}
				want = append(want, r)
				if err := s.Add(r.Key, r.Payload); err != nil {
					t.Fatal(err)
				}
			}
			slices.SortFunc(want, Compare)
			i := 0
			for r, err := range s.Merge() {
				if err != nil || Compare(r, want[i]) != 0 {
					t.Fatalf("record %d is %v, want %v (%v)", i, r, want[i], err)
				}
				i++
			}
			if i != len(want) {
				t.Errorf("%d records of %d", i, len(want))
			}
		})
	}
}

func TestErrors(t *testing.T) {
	s := New(t.TempDir(), 1)
	if err := s.Add(Key{}, make([]byte, maxPayload+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a payload over the limit: %v", err)
	}
	s = New("/nonexistent/folder", 1)
	var err error
	for range 10_000 {
		if err = s.Add(Key{1}, []byte("payload")); err != nil {
			break
		}
	}
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no temporary folder: %v", err)
	}
}

func BenchmarkSort(b *testing.B) {
	rs := records(100_000)
	var bytes int64
	for _, r := range rs {
		bytes += int64(len(r.Payload)) + recordHead
	}
	b.SetBytes(bytes)
	b.ReportAllocs()
	for b.Loop() {
		s := New(b.TempDir(), 2<<20)
		for _, r := range rs {
			s.Add(r.Key, r.Payload)
		}
		for _, err := range s.Merge() {
			if err != nil {
				b.Fatal(err)
			}
		}
		s.Close()
	}
}
