package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"straggler/bucket/s3test"
	"straggler/schema"
	"straggler/store/parquet"
	"straggler/store/storetest"
)

// The laws of a store, each checked in every kind of location.

// TestLawOfLife: a store shows the same after each change in every kind of location, to the process that made the change and to
// one that opens it then.
func TestLawOfLife(t *testing.T) {
	states := golden(t)
	onEachGround(t, func(t *testing.T, g ground) {
		s := g.open(t)
		for i, step := range steps {
			if err := step.run(t.Context(), s); err != nil {
				t.Fatalf("%s: %v", step.name, err)
			}
			for _, reader := range []*Store{s, g.open(t)} {
				if state, err := shown(t.Context(), reader); err != nil || state != states[i+1] {
					t.Fatalf("after %s it shows\n%s\n%v\nand in memory\n%s", step.name, state, err, states[i+1])
				}
			}
			if found, err := s.Verify(t.Context()); err != nil || len(found) > 0 {
				t.Fatalf("after %s: %+v %v", step.name, found, err)
			}
		}
		if marks, err := s.at.list(t.Context(), "staging"); err != nil || len(marks) > 0 {
			t.Errorf("staging holds %v %v", marks, err)
		}
	})
}

// TestLawOfRandomLives: as TestRandomLives, everywhere.
func TestLawOfRandomLives(t *testing.T) {
	onEachGround(t, func(t *testing.T, g ground) { walkIn(t, g.open(t), rand.New(rand.NewPCG(11, 0)), 25, "seed 11:") })
}

// TestLawOfRows: rows are read back unchanged, from files of several parts.
func TestLawOfRows(t *testing.T) {
	onEachGround(t, func(t *testing.T, g ground) {
		want := storetest.Attempts(7, parquet.RowGroupRows+1)
		ingest(t, g.open(t), 7, want)
		t.Setenv("STRAGGLER_CACHE", t.TempDir()) // like another machine
		got := visible[schema.Attempt](t, g.open(t))
		slices.SortFunc(got, byTask)
		if !slices.Equal(got, want) {
			t.Errorf("%d rows came back of %d", len(got), len(want))
		}
	})
}

// TestLawOfOneWinner: of writers that commit the same log at once one wins, and the others are told that it is already there.
func TestLawOfOneWinner(t *testing.T) {
	onEachGround(t, func(t *testing.T, g ground) {
		const writers = 4
		var begun []*Tx
		for range writers {
			s, err := Open(t.Context(), g.where, Options{fs: osFS{noSync: true}, retry: fewRetries})
			if err != nil {
				t.Fatal(err)
			}
			tx, err := s.Begin(t.Context(), Origin{Kind: Log})
			if err == nil {
				err = errors.Join(Append(tx, 1, storetest.Attempts(1, 50)), tx.Input(InputRecord{Name: "log", Key: 1, Fingerprint: "a"}))
			}
			if err != nil {
				t.Fatal(err)
			}
			begun = append(begun, tx)
		}
		results := make([]error, writers)
		var wg sync.WaitGroup
		for i, tx := range begun {
			wg.Go(func() { _, results[i] = tx.Commit(t.Context()) })
		}
		wg.Wait()
		won := 0
		for _, err := range results {
			if err == nil {
				won++
			} else if !errors.Is(err, ErrIngested) {
				t.Errorf("a loser is told %v", err)
			}
		}
		if won != 1 {
			t.Errorf("%d writers won", won)
		}
		s := g.open(t)
		if n := len(visible[schema.Attempt](t, s)); n != 50 {
			t.Errorf("%d attempts", n)
		}
		if found, err := s.Verify(t.Context()); err != nil || len(found) > 0 {
			t.Errorf("%+v %v", found, err)
		}
	})
}

// TestLawOfProcesses: several processes commit to one store at once, and every commit exists with its own number.
func TestLawOfProcesses(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	onEachGround(t, func(t *testing.T, g ground) {
		const processes, each = 3, 4
		var wg sync.WaitGroup
		for p := range processes {
			var keys []string
			for k := range each {
				keys = append(keys, fmt.Sprint(1000*(p+1)+k))
			}
			wg.Go(func() {
				cmd := exec.CommandContext(t.Context(), self)
				cmd.Env = append(os.Environ(), childDir+"="+g.where, writeKeys+"="+strings.Join(keys, " "))
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("process %d: %v\n%s", p, err, out)
				}
			})
		}
		wg.Wait()
		s := g.open(t)
		list, err := s.List(t.Context())
		if err != nil || len(list) != processes*each {
			t.Fatalf("%d commits of %d, %v", len(list), processes*each, err)
		}
		for i, e := range list {
			if e.Sequence != int64(i+1) || !e.Visible || e.Tables["jobs"] != 10 {
				t.Errorf("commit %d is %+v", i+1, e)
			}
		}
		if found, err := s.Verify(t.Context()); err != nil || len(found) > 0 {
			t.Errorf("%+v %v", found, err)
		}
	})
}

// TestLawOfDamage: Verify finds what is missing, truncated or changed, and a reader rejects it.
func TestLawOfDamage(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"missing":        func([]byte) []byte { return nil },
		"cut":            func(b []byte) []byte { return b[:len(b)/2] },
		"cut to nothing": func(b []byte) []byte { return b[:0] },
		"longer":         func(b []byte) []byte { return append(b, 0) },
		"changed":        func(b []byte) []byte { b[len(b)/2] ^= 0x10; return b },
	} {
		t.Run(name, func(t *testing.T) {
			onEachGround(t, func(t *testing.T, g ground) {
				s := g.open(t)
				c := ingest(t, s, 7, storetest.Attempts(7, 100))
				file := c.Tables[0].Files[0].Path
				g.change(t, s, file, damage)
				t.Setenv("STRAGGLER_CACHE", t.TempDir()) // as another machine
				s = g.open(t)
				found, err := s.Verify(t.Context())
				if err != nil || len(found) != 1 || !errors.Is(found[0].Err, ErrDamaged) || found[0].File != file || !strings.Contains(found[0].Advice, "ingest") {
					t.Errorf("Verify says %+v %v", found, err)
				}
				_, err = scanned[schema.Attempt](t.Context(), snapshot(t, s))
				if name == "changed" && g.inDirectory() {
					return // reading in place does not compute checksums
				}
				if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "straggler store verify") {
					t.Errorf("a reader is told %v", err)
				}
				g.change(t, s, commitName(1), func(b []byte) []byte { return bytes.Replace(b, []byte(`"key": "7"`), []byte(`"key": "8"`), 1) })
				if _, err := g.open(t).List(t.Context()); !errors.Is(err, ErrDamaged) {
					t.Errorf("a changed commit is taken: %v", err)
				}
			})
		})
	}
}

// TestLawOfRefusal: what is not a store is refused, and opening it for reading creates nothing.
func TestLawOfRefusal(t *testing.T) {
	onEachGround(t, func(t *testing.T, g ground) {
		if _, err := Open(t.Context(), g.where, Options{ReadOnly: true, retry: fewRetries}); !errors.Is(err, ErrNotStore) {
			t.Errorf("nothing gave %v", err)
		}
		s := g.open(t)
		if list, err := s.List(t.Context()); err != nil || len(list) > 0 {
			t.Errorf("a new store has %v, %v", list, err)
		}
		if err := write(t.Context(), s, 1, "a", 3); err != nil {
			t.Fatal(err)
		}
		ro, err := Open(t.Context(), g.where, Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ro.Begin(t.Context(), Origin{Kind: Log}); err == nil || !strings.Contains(err.Error(), "reading only") {
			t.Errorf("Begin gave %v", err)
		}
	})
}

// TestLawOfUnmake: a store that was created and stayed empty is removed, and a process that has opened it meanwhile recreates
// it; one in which another writer is at work, or that has a commit, stays.
func TestLawOfUnmake(t *testing.T) {
	onEachGround(t, func(t *testing.T, g ground) {
		a, b := g.open(t), g.open(t)
		if err := a.Unmake(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), g.where, Options{ReadOnly: true, retry: fewRetries}); !errors.Is(err, ErrNotStore) {
			t.Errorf("removed, and opening it gives %v", err)
		}
		if _, err := os.Stat(g.dir); g.inDirectory() && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("its directory is there: %v", err)
		}
		tx, err := b.Begin(t.Context(), Origin{Kind: Log})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(a.Unmake(t.Context()), Append(tx, 1, storetest.Attempts(1, 5)), a.Unmake(t.Context()),
			tx.Input(InputRecord{Name: "log", Key: 1, Fingerprint: "a"})); err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(a.Unmake(t.Context()), b.Unmake(t.Context())); err != nil {
			t.Fatal(err)
		}
		if n := len(visible[schema.Attempt](t, g.open(t))); n != 5 {
			t.Errorf("%d attempts", n)
		}
	})
}

// TestLawOfScratch: a scratch store shows the contents of the store and what is committed to it; none of the latter is in the
// store, and nothing is left when it is closed.
func TestLawOfScratch(t *testing.T) {
	onEachGround(t, func(t *testing.T, g ground) {
		s := g.open(t)
		first := storetest.Attempts(1, 20)
		ingest(t, s, 1, first)
		ro, err := Open(t.Context(), g.where, Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		before, err := ro.at.list(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		scratch, err := ro.Scratch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		second := storetest.Attempts(2, 30)
		ingest(t, scratch, 2, second)
		if _, err := scratch.Compact(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		got := visible[schema.Attempt](t, scratch)
		if len(got) != len(first)+len(second) {
			t.Errorf("the scratch store shows %d attempts", len(got))
		}
		if found, err := scratch.Verify(t.Context()); err != nil || len(found) > 0 {
			t.Errorf("the scratch store is not whole: %v %v", found, err)
		}
		if err := scratch.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(scratch.Where()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("closed, and its directory is there: %v", err)
		}
		if after, err := ro.at.list(t.Context(), ""); err != nil || !slices.Equal(before, after) {
			t.Errorf("the store has %v, and had %v: %v", after, before, err)
		}
		if found, err := ro.Verify(t.Context()); err != nil || len(found) > 0 || len(visible[schema.Attempt](t, ro)) != len(first) {
			t.Errorf("the store is not what it was: %v %v", found, err)
		}
	})
}

// TestLawOfLostRequests disconnects a bucket's server at each request that changes something, before it is received or before
// its response is, and checks the result: the state before or after the step, and later steps succeed.
func TestLawOfLostRequests(t *testing.T) {
	states := golden(t)
	for _, heard := range []bool{false, true} {
		t.Run(fmt.Sprint("heard ", heard), func(t *testing.T) {
			server, caches := s3test.Serve(t), fastDir(t)
			for at := int64(1); ; at += 1 + at%3 { // some are skipped, to save time
				t.Setenv("STRAGGLER_CACHE", filepath.Join(caches, fmt.Sprint(at))) // of one store, as a cache is listed often
				g := ground{where: fmt.Sprint("s3://lakes/", heard, at), server: server}
				s := g.open(t)
				seen := int64(0)
				var mu sync.Mutex
				server.Intercept(func(w http.ResponseWriter, r *http.Request, _ int64) bool {
					mu.Lock()
					if s3test.Changes(r) {
						seen++
					}
					now := seen
					mu.Unlock()
					if now < at {
						return false
					}
					if heard && now == at && s3test.Changes(r) {
						server.Swallow(r)
					}
					panic(http.ErrAbortHandler)
				})
				done, err := live(t.Context(), s, 0)
				server.Intercept(nil)
				if seen < at {
					if err != nil {
						t.Fatal(err)
					}
					t.Logf("%d requests", at-1)
					if at < 35 {
						t.Errorf("only %d requests change something", at-1)
					}
					return
				}
				s3test.KeepsSecrets(t, err)
				what := fmt.Sprintf("cut off at change %d", at)
				soundAt(t, g.open(t), states, done, at%goOnEvery == 0, what)
			}
		})
	}
}

// TestLawOfKilledWriters kills a process that writes to a bucket at each request that changes something.
func TestLawOfKilledWriters(t *testing.T) {
	states := golden(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server := s3test.Serve(t)
	kills := 0
	for at := int64(1); ; at += 2 {
		g := ground{where: fmt.Sprint("s3://lakes/", at), server: server}
		front := httptest.NewServer(server) // closing it ends the requests of the dead process
		cmd := exec.CommandContext(t.Context(), self)
		cmd.Env = append(os.Environ(), childDir+"="+g.where, killAt+"=0", "AWS_ENDPOINT_URL="+front.URL)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		seen := int64(0)
		var mu sync.Mutex
		started := make(chan struct{})
		server.Intercept(func(w http.ResponseWriter, r *http.Request, _ int64) bool {
			<-started
			mu.Lock()
			defer mu.Unlock()
			if s3test.Changes(r) {
				seen++
			}
			if seen < at {
				return false
			}
			cmd.Process.Kill()
			if at%4 == 1 && seen == at {
				io.Copy(io.Discard, r.Body)
				panic(http.ErrAbortHandler) // it was not heard
			}
			return false
		})
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		close(started)
		err := cmd.Wait()
		front.Close()
		server.Intercept(nil)
		if err == nil {
			break
		}
		if cmd.ProcessState.Exited() {
			t.Fatalf("killed at change %d the process ended otherwise: %v\n%s", at, err, &out)
		}
		kills++
		s := g.open(t)
		state, err := shown(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		done := slices.Index(states, state)
		if done < 0 || done > len(killSteps) {
			t.Fatalf("killed at change %d, the store shows\n%s", at, state)
		}
		soundAt(t, s, states, done, kills%5 == 0, fmt.Sprintf("killed at change %d", at))
	}
	if kills < 5 {
		t.Errorf("only %d kills", kills)
	}
	t.Logf("killed %d times", kills)
}
