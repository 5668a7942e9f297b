package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"straggler/schema"
)

// steps are the changes in the life of a store: a first ingest, its log grown, another ingest, results; the log grown again,
// results that keep those of the other ingest, a removal, one more ingest, results that drop and keep, new results of an
// unchanged input, a compaction.
var steps = []struct {
	name string
	run  func(ctx context.Context, s *Store) error
}{
	{"ingest", func(ctx context.Context, s *Store) error { return write(ctx, s, 1, "a", 30) }},
	{"grown", func(ctx context.Context, s *Store) error { return write(ctx, s, 1, "b", 40) }},
	{"other", func(ctx context.Context, s *Store) error { return write(ctx, s, 2, "c", 20) }},
	{"detect", func(ctx context.Context, s *Store) error { _, err := resume(ctx, s, false); return err }},
	{"regrown", func(ctx context.Context, s *Store) error { return write(ctx, s, 1, "e", 45) }},
	{"again", func(ctx context.Context, s *Store) error { _, err := resume(ctx, s, false); return err }},
	{"remove", func(ctx context.Context, s *Store) error {
		_, err := s.Remove(ctx, ingestID([]InputRecord{{Key: 2, Fingerprint: "c"}}), "test")
		return err
	}},
	{"third", func(ctx context.Context, s *Store) error { return write(ctx, s, 3, "d", 10) }},
	{"resumed", func(ctx context.Context, s *Store) error { _, err := resume(ctx, s, false); return err }},
	{"redone", func(ctx context.Context, s *Store) error { _, err := resume(ctx, s, true); return err }},
	{"compact", func(ctx context.Context, s *Store) error { _, err := s.Compact(ctx, "test"); return err }},
}

// write commits rows of one input, replacing those in the store.
func write(ctx context.Context, s *Store, key schema.Key, fingerprint string, n int) error {
	tx, err := s.Begin(ctx, Origin{Kind: Log, Tool: "test"})
	if err != nil {
		return err
	}
	defer tx.Abort()
	keys := schema.NewKeys(key, "jobs")
	jobs := make([]schema.Job, n)
	for i := range jobs {
		jobs[i] = schema.Job{JobID: keys.Next(), NativeID: fmt.Sprint("job_", i), Status: schema.RunSucceeded}
	}
	if err := Append(tx, key, jobs); err != nil {
		return err
	}
	if err := tx.Input(InputRecord{Name: fmt.Sprint("log-", key), Key: KeyText(key), Fingerprint: fingerprint}); err != nil {
		return err
	}
	if err := Append(tx, 0, []schema.Ingest{{IngestID: tx.ID(), Files: 1}}); err != nil {
		return err
	}
	tx.Retire(key)
	_, err = tx.Commit(ctx)
	return err
}

func results(ctx context.Context, s *Store, n int) error {
	tx, err := s.Begin(ctx, Origin{Kind: Detect, Tool: "test"})
	if err != nil {
		return err
	}
	defer tx.Abort()
	if err := Append(tx, 0, make([]schema.PhaseStats, n)); err != nil {
		return err
	}
	_, err = tx.Commit(ctx)
	return err
}

// resume updates results, a row for each job and attempt and one for all, and returns the number of inputs with new rows. With
// redo the first unchanged input is included.
func resume(ctx context.Context, s *Store, redo bool) (int, error) {
	tx, err := s.Begin(ctx, Origin{Kind: Detect, Tool: "test"})
	if err != nil {
		return 0, err
	}
	defer tx.Abort()
	todo, ok := tx.Resume(false)
	if !ok {
		return 0, errors.New("the store has rows of no input")
	}
	files, err := s.Snapshot(ctx)
	if err != nil {
		return 0, err
	}
	defer files.Close()
	for _, in := range todo {
		tx.Saw(in)
	}
	if redo {
		again := tx.Kept()[:1]
		tx.Drop(again)
		todo = append(todo, again...)
	}
	for _, in := range todo {
		var rows []schema.PhaseStats
		err := files.chosen(ctx, schema.Key(in.Key), func(id schema.Key, native string) {
			rows = append(rows, schema.PhaseStats{PhaseID: id, Note: schema.Some(native)})
		})
		if err == nil {
			err = Append(tx, schema.Key(in.Key), rows)
		}
		if err != nil {
			return 0, err
		}
	}
	if tx.Unchanged() && !redo {
		return 0, nil
	}
	if err := Append(tx, 0, []schema.PhaseStats{{Note: schema.Some("all")}}); err != nil {
		return 0, err
	}
	_, err = tx.Commit(ctx)
	return len(todo), err
}

// chosen reads the rows of one input.
func (n *Snapshot) chosen(ctx context.Context, input schema.Key, each func(id schema.Key, native string)) error {
	for _, t := range []*schema.Table{schema.TableOf[schema.Job](), schema.TableOf[schema.Attempt]()} {
		slices, err := n.SlicesOf(t.Name, []schema.Key{input})
		if err != nil {
			return err
		}
		for _, sl := range slices {
			err := n.scan(ctx, t, sl, func(from schema.Key, batch schema.Batch) error {
				if from != input {
					return nil
				}
				jobs, _ := schema.RowsOf[schema.Job](batch)
				for i := range jobs {
					each(jobs[i].JobID, jobs[i].NativeID)
				}
				attempts, _ := schema.RowsOf[schema.Attempt](batch)
				for i := range attempts {
					each(attempts[i].AttemptID, attempts[i].NativeID)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// shown returns what a store shows: the inputs with their rows, from its commits, and the rows of results, from its files.
func shown(ctx context.Context, s *Store) (string, error) {
	cat, err := s.catalog(ctx)
	if err != nil {
		return "", err
	}
	var lines []string
	for in := range cat.inputs {
		lines = append(lines, fmt.Sprint(in.Key, in.Fingerprint, in.Rows))
	}
	files, err := s.Snapshot(ctx)
	if err != nil {
		return "", err
	}
	defer files.Close()
	found, err := scanned[schema.PhaseStats](ctx, files)
	if err != nil {
		return "", err
	}
	byKey := map[schema.Key]int{}
	for i := range found {
		byKey[found[i].PhaseID&^(schema.BlockKeys-1)]++
	}
	for _, n := range byKey {
		lines = append(lines, fmt.Sprint("results ", n))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n"), nil
}

// live runs the steps until one fails and returns the number completed.
func live(ctx context.Context, s *Store, from int) (done int, err error) {
	for i := from; i < len(steps); i++ {
		if err := steps[i].run(ctx, s); err != nil {
			return i, fmt.Errorf("%s: %w", steps[i].name, err)
		}
	}
	return len(steps), nil
}

// golden returns what a store shows after each number of steps.
func golden(t *testing.T) []string {
	t.Helper()
	s, err := Open(t.Context(), t.TempDir(), Options{fs: osFS{noSync: true}})
	if err != nil {
		t.Fatal(err)
	}
	var states []string
	for i := range len(steps) + 1 {
		state, err := shown(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, state)
		if i < len(steps) {
			if err := steps[i].run(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
	}
	if states[9] != states[10] || states[10] != states[11] || states[1] == states[2] || states[3] == states[4] ||
		states[5] == states[6] || states[8] == states[9] {
		t.Fatalf("the steps do not do what they are for: %q", states)
	}
	return states
}

// sound opens a store after a fault and checks that it shows the state before or after the failed step, that nothing is
// damaged, and with goOn that the next steps succeed and no stray files are left at the end.
func sound(t *testing.T, dir string, states []string, done int, goOn bool, what string) {
	t.Helper()
	s, err := Open(t.Context(), dir, Options{fs: osFS{noSync: true}})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	soundAt(t, s, states, done, goOn, what)
}

func soundAt(t *testing.T, s *Store, states []string, done int, goOn bool, what string) {
	t.Helper()
	state, err := shown(t.Context(), s)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	switch {
	case state == states[done]:
	case done < len(steps) && state == states[done+1]:
		done++
	default:
		t.Fatalf("%s: the store shows\n%s\nwhich is neither before nor after step %d:\n%s\n--\n%s", what, state, done,
			states[done], states[min(done+1, len(steps))])
	}
	tx, err := s.Begin(t.Context(), Origin{Kind: Log}) // cleans up after the dead writer
	if err != nil {
		t.Fatalf("%s: going on: %v", what, err)
	}
	if err := tx.Abort(); err != nil {
		t.Fatalf("%s: going on: %v", what, err)
	}
	_, local := s.at.(*directory)
	found, err := s.Verify(t.Context())
	if !local { // a process that dies while sweeping a bucket leaves files to the next compaction
		found = slices.DeleteFunc(found, func(f Finding) bool { return f.Err == nil })
	}
	if err != nil || len(found) > 0 {
		t.Fatalf("%s: %+v %v", what, found, err)
	}
	if !goOn {
		return
	}
	if _, err := live(t.Context(), s, done); err != nil {
		t.Fatalf("%s: going on: %v", what, err)
	}
	if _, err := s.Compact(t.Context(), "test"); err != nil {
		t.Fatalf("%s: going on: %v", what, err)
	}
	if state, err = shown(t.Context(), s); err != nil || state != states[len(steps)] {
		t.Fatalf("%s: at the end the store shows\n%s\n%v", what, state, err)
	}
	if found, err := s.Verify(t.Context()); err != nil || len(found) > 0 {
		t.Fatalf("%s: at the end %+v %v", what, found, err)
	}
	if left, err := os.ReadDir(s.staging.root); err != nil || len(left) > 0 {
		t.Fatalf("%s: staging holds %v %v", what, left, err)
	}
	if left, err := s.at.list(t.Context(), "staging"); err != nil || len(left) > 0 {
		t.Fatalf("%s: staging holds %v %v", what, left, err)
	}
}

// fastDir returns a directory for stores that are created by the hundred: in memory, if there is such a file system.
func fastDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "straggler-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// goOnEvery is the number of faults after which one store is used further, which takes longer than all the rest.
const goOnEvery = 19

// TestEveryOperationFails makes each operation on the disk fail in turn, in each way, and checks what is left.
func TestEveryOperationFails(t *testing.T) {
	states := golden(t)
	for _, kind := range []struct {
		name  string
		fault fault
		every int // operation; the faults that leave less behind are not tried everywhere, to save time
	}{{"an error", failOnce, 2}, {"a full disk", diskFull, 1}, {"a crash", crash, 4}, {"a power failure", powerLoss, 1},
		{"a power failure amid writes", powerSome, 1}} {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			faults := 0
			base := fastDir(t)
			for at := 1; ; at += kind.every {
				dir, backup := filepath.Join(base, strconv.Itoa(at), "store"), filepath.Join(base, strconv.Itoa(at), "backup")
				if err := os.MkdirAll(backup, 0o777); err != nil {
					t.Fatal(err)
				}
				disk := &faultFS{osFS: osFS{noSync: true}, at: at, fault: kind.fault, backup: backup}
				s, err := Open(t.Context(), dir, Options{fs: disk})
				if err != nil {
					faults++
					continue
				}
				done, err := live(t.Context(), s, 0)
				if disk.ops < at {
					break
				}
				faults++
				what := fmt.Sprintf("%s at operation %d", kind.name, at)
				if says := kind.fault.says(); err != nil && !errors.Is(err, says) {
					t.Fatalf("%s: the error does not say so: %v", what, err)
				}
				sound(t, dir, states, done, at%goOnEvery == 0, what)
				if err := os.RemoveAll(filepath.Dir(dir)); err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("%d operations", faults)
			if faults < 150/kind.every {
				t.Errorf("only %d operations", faults)
			}
		})
	}
}

// says returns the error that errors caused by the fault wrap.
func (f fault) says() error {
	switch f {
	case failOnce:
		return syscall.EIO
	case diskFull:
		return syscall.ENOSPC
	}
	return errCrash
}

// noLinkFS cannot make the link that a commit is.
type noLinkFS struct {
	osFS
	err error
}

func (f noLinkFS) Link(from, to string) error { return f.err }

// TestFailedCommitFreesItsSpace: on a full disk it is needed.
func TestFailedCommitFreesItsSpace(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir(), Options{fs: noLinkFS{err: syscall.ENOSPC}})
	if err != nil {
		t.Fatal(err)
	}
	if err := write(t.Context(), s, 1, "a", 10); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if left, err := s.at.orphans(t.Context(), nil, true); err != nil || len(left) > 0 {
		t.Fatalf("%v were left, %v", left, err)
	}
}

// TestWithoutHardLinks: some file systems have none.
func TestWithoutHardLinks(t *testing.T) {
	for _, e := range []error{syscall.EPERM, syscall.ENOTSUP} {
		s, err := Open(t.Context(), t.TempDir(), Options{fs: noLinkFS{err: &os.LinkError{Op: "link", Err: e}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := live(t.Context(), s, 0); err != nil {
			t.Fatal(err)
		}
	}
}

// Instructions for a child process in its environment: killAt or writeKeys, on the store in childDir.
const (
	childDir  = "STRAGGLER_TEST_DIR"
	killAt    = "STRAGGLER_TEST_KILL_AT"
	writeKeys = "STRAGGLER_TEST_WRITE_KEYS"
)

// TestMain lets the test binary act as the process that is killed, or as one of several that write.
func TestMain(m *testing.M) {
	dir := os.Getenv(childDir)
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := child(context.Background(), dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func child(ctx context.Context, dir string) error {
	if at, err := strconv.Atoi(os.Getenv(killAt)); err == nil {
		o := Options{retry: fewRetries}
		if at > 0 {
			o.fs = &faultFS{osFS: osFS{noSync: true}, at: at, fault: kill}
		}
		s, err := Open(ctx, dir, o)
		for i := 0; err == nil && i < len(killSteps); i++ {
			err = steps[killSteps[i]].run(ctx, s)
		}
		return err
	}
	s, err := Open(ctx, dir, Options{retry: fewRetries})
	for key := range strings.FieldsSeq(os.Getenv(writeKeys)) {
		n, _ := strconv.ParseInt(key, 10, 64)
		if err == nil {
			err = write(ctx, s, n, key, 10)
		}
	}
	return err
}

// killSteps are the steps in which a process is killed: the first ingest and the one that replaces it. The others are covered
// by the crashes of TestEveryOperationFails, because starting processes takes long.
var killSteps = []int{0, 1}

// TestKilledAnywhere kills a writing process before each of its operations, and in the middle of each write.
func TestKilledAnywhere(t *testing.T) {
	states := golden(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	kills := 0
	for at := 1; ; at++ {
		dir := filepath.Join(fastDir(t), "store")
		cmd := exec.CommandContext(t.Context(), self)
		cmd.Env = append(os.Environ(), childDir+"="+dir, killAt+"="+strconv.Itoa(at))
		out, err := cmd.CombinedOutput()
		if err == nil {
			break
		}
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != syscall.SIGKILL {
			t.Fatalf("killed at operation %d the process ended otherwise: %v\n%s", at, err, out)
		}
		kills++
		if kills > 500 {
			t.Fatal("the process never gets to its end")
		}
		s, err := Open(t.Context(), dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		state, err := shown(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		done := slices.Index(states, state)
		if done < 0 || done > len(killSteps) {
			t.Fatalf("killed at operation %d, the store shows\n%s", at, state)
		}
		if at%(2*goOnEvery) == 0 {
			sound(t, dir, states, done, true, fmt.Sprintf("killed at operation %d", at))
		}
	}
	if kills < 30 {
		t.Fatalf("only %d kills", kills)
	}
	t.Logf("killed %d times", kills)
}
