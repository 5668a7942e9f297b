package run_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"straggler/ingest"
	"straggler/ingest/run"
	"straggler/store"
)

// following starts Follow on a directory and returns a function that waits until the store has the expected contents.
func following(t *testing.T, st *store.Store, dir string) (until func(want ...string), stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	rounds := make(chan error, 10_000)
	ended := make(chan error, 1)
	go func() {
		ended <- run.Follow(ctx, st, []ingest.Format{toy()}, []string{dir},
			run.FollowOptions{Every: time.Millisecond, Each: func(_ run.Summary, err error) { rounds <- err }})
	}()
	until = func(want ...string) {
		t.Helper()
		deadline := time.After(60 * time.Second)
		for got := attempts(t, st); !slices.Equal(got, want); got = attempts(t, st) {
			select {
			case err := <-rounds:
				if err != nil {
					t.Fatal(err)
				}
			case <-time.After(10 * time.Millisecond):
			case <-deadline:
				t.Fatalf("the store holds %v, want %v", got, want)
			}
		}
	}
	stop = func() {
		t.Helper()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Follow ended with %v", err)
		}
	}
	return until, stop
}

// Logs that appear, grow, are renamed when they are complete, roll and disappear; and a follower that is restarted.
func TestFollow(t *testing.T) {
	dir := tree(t, map[string][]byte{"a.log": toyLog("a", 2), "note.txt": []byte("no log")})
	st := newStore(t)
	until, stop := following(t, st, dir)
	until("a 2")
	write(t, filepath.Join(dir, "b.log.inprogress"), toyLog("b", 1))
	until("a 2", "b 1")
	write(t, filepath.Join(dir, "b.log.inprogress"), toyLog("b", 4000))
	until("a 2", "b 4000")
	write(t, filepath.Join(dir, "b.log.inprogress"), toyLog("b", 4001)) // less than a tenth: read when it is quiet
	until("a 2", "b 4001")
	if err := os.Rename(filepath.Join(dir, "b.log.inprogress"), filepath.Join(dir, "b.log")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "c.toys/part1"), toyLog("c", 1))
	until("a 2", "b 4001", "c 1")
	write(t, filepath.Join(dir, "c.toys/part2"), []byte("run x\nrun y\n"))
	until("a 2", "b 4001", "c 3")
	stop()

	write(t, filepath.Join(dir, "d.log"), toyLog("d", 1))
	if err := os.Remove(filepath.Join(dir, "a.log")); err != nil {
		t.Fatal(err)
	}
	until, stop = following(t, st, dir)
	until("a 2", "b 4001", "c 3", "d 1")
	stop()
}

// A follower that finds nothing new reads nothing and commits nothing.
func TestFollowIsQuiet(t *testing.T) {
	dir := tree(t, map[string][]byte{"a.log": toyLog("a", 2), "note.txt": []byte("no log")})
	reads := 0
	f := toy()
	f.Read = func(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
		reads++
		return readToy(ctx, in, out)
	}
	sniffs := make(chan string, 1000)
	f.Sniff = func(h ingest.Head) ingest.Match {
		sniffs <- h.Name
		return sniffToy(h)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rounds := 0
	f.Claim = func(ingest.Dir) []ingest.Group { // called once per round
		if rounds++; rounds == 20 {
			cancel()
		}
		return nil
	}
	told := 0
	err := run.Follow(ctx, newStore(t), []ingest.Format{f}, []string{dir},
		run.FollowOptions{Every: time.Microsecond, Each: func(run.Summary, error) { told++ }})
	if !errors.Is(err, context.Canceled) || reads != 1 || told != 1 || len(sniffs) != 2 {
		t.Errorf("in %d rounds: %d reads, %d files looked into, %d reports, error %v", rounds, reads, len(sniffs), told, err)
	}
	if err := run.Follow(ctx, newStore(t), nil, []string{"-"}, run.FollowOptions{}); !errors.Is(err, ingest.ErrUse) {
		t.Errorf("standard input: error %v", err)
	}
}

// An earlier state of a log in the store does not replace it, unless --again is set.
func TestEarlierState(t *testing.T) {
	long := toyLog("long", 9000)
	dir := tree(t, map[string][]byte{"now/long.log": long, "then/long.log": long[:len(long)-50], "zip/long.log.gz": gzipped(t, append(long, "run late\n"...))})
	st := newStore(t)
	mustRun(t, st, run.Options{}, filepath.Join(dir, "now"))
	s := mustRun(t, st, run.Options{}, filepath.Join(dir, "then"))
	want(t, statuses(dir, s), []string{"then/long.log already there"})
	if !strings.Contains(s.Results[0].Reason, "longer state") {
		t.Errorf("reason %q", s.Results[0].Reason)
	}
	want(t, attempts(t, st), []string{"long 9000"})
	mustRun(t, st, run.Options{}, filepath.Join(dir, "zip")) // the sizes of compressed files are not comparable
	want(t, attempts(t, st), []string{"long 9001"})
	mustRun(t, st, run.Options{Again: true}, filepath.Join(dir, "then"))
	if got := attempts(t, st); fmt.Sprint(got) == "[long 9001]" {
		t.Errorf("--again did not replace: %v", got)
	}
}

// A follower that reads a bounded number of bytes per round reads the most recently changed logs first and, without a pause
// between the rounds, all of them. A log that fails is retried last, and delays no other. All are listed by name before one is
// opened, and each is examined only in its own round.
func TestRounds(t *testing.T) {
	files := map[string][]byte{}
	for i := range 6 {
		files[fmt.Sprintf("%d.log", i)] = toyLog(fmt.Sprint(i), 10)
	}
	files["bad.log"] = []byte("toy bad\nfail\n")
	dir := tree(t, files)
	now := time.Now()
	for i := range 6 { // the one with the highest number is the newest but the one that fails
		at := now.Add(time.Duration(i-60) * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, fmt.Sprintf("%d.log", i)), at, at); err != nil {
			t.Fatal(err)
		}
	}
	size := int64(len(files["0.log"]))
	f := toy()
	f.Read = func(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
		if strings.Contains(in.Name, "bad") {
			return errors.New("it fails")
		}
		return readToy(ctx, in, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var order []string
	waiting, planned, bad := 0, 0, 0
	sniffs := map[string]int{}
	f.Sniff = func(h ingest.Head) ingest.Match {
		sniffs[h.Name]++
		return sniffToy(h)
	}
	o := run.Options{Round: 2 * size, Parallel: 1, Planned: func(found []run.Result) {
		if len(sniffs) == 0 && len(found) != 7 {
			t.Errorf("%d logs were listed before one was opened", len(found))
		}
		for _, r := range found {
			if r.Status == run.Planned {
				planned++
			}
		}
	}}
	each := func(s run.Summary, err error) {
		for _, r := range s.Results {
			switch r.Status {
			case run.Read:
				order = append(order, strings.TrimPrefix(r.Name, dir+"/"))
			case run.Failed:
				bad++
			}
		}
		waiting = max(waiting, s.Count(run.Waiting))
		if len(order) == 6 && bad > 1 {
			cancel()
		}
	}
	err := run.Follow(ctx, newStore(t), []ingest.Format{f}, []string{dir}, run.FollowOptions{Options: o, Every: time.Millisecond, Each: each})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for i := range 6 {
		if n := sniffs[fmt.Sprintf("%d.log", i)]; n != 1 {
			t.Errorf("log %d was looked into %d times", i, n)
		}
	}
	if waiting < 4 || planned < 7 {
		t.Errorf("%d waited, %d were planned", waiting, planned)
	}
	for i := 2; i < len(order); i++ { // two per round, which are listed by name
		if order[i] > order[i-2] && order[i] > order[i-1] {
			t.Errorf("read in the order %v", order)
		}
	}
}
