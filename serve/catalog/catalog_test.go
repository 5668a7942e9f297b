package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"straggler/engine"
	"straggler/ingest"
	"straggler/ingest/formats"
	"straggler/ingest/run"
	"straggler/report"
	"straggler/report/reporttest"
	"straggler/serve/catalog"
	"straggler/serve/catalog/catalogtest"
	"straggler/store"
)

// opened returns a catalog that watches a directory.
func opened(t *testing.T, logs ...string) *catalog.Catalog {
	t.Helper()
	return openedWith(t, formats.All(), logs...)
}

func openedWith(t *testing.T, known []ingest.Format, logs ...string) *catalog.Catalog {
	t.Helper()
	st, err := store.Temp(t.Context())
	reporttest.Check(t, err)
	t.Cleanup(func() { st.Close() })
	shown, err := store.Open(t.Context(), st.Where(), store.Options{ReadOnly: true})
	reporttest.Check(t, err)
	c, err := catalog.Open(t.Context(), catalog.Options{Store: st, Shown: shown, Logs: logs, Formats: known, Tool: "test", Every: 50 * time.Millisecond})
	reporttest.Check(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in two minutes: %s", what)
		}
	}
}

func copyLog(t *testing.T, name, to string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("..", "..", "testdata", "labelled", name, "*app-*"))
	reporttest.Check(t, err)
	data, err := os.ReadFile(found[0])
	reporttest.Check(t, err)
	reporttest.Check(t, os.WriteFile(to+".part", data, 0o600))
	reporttest.Check(t, os.Rename(to+".part", to))
}

// begin runs a catalog until the function that it returns is called, which waits for its end.
func begin(t *testing.T, c *catalog.Catalog) (end func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	return func() { cancel(); <-ended }
}

// Existing and new logs are read and analysed; a log that cannot be read is listed and does not affect the others.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	copyLog(t, "skew", filepath.Join(dir, "first.zstd"))
	reporttest.Check(t, os.WriteFile(filepath.Join(dir, "bad.zstd"), []byte("\x28\xb5\x2f\xfd broken"), 0o600))
	c := opened(t, dir)
	if apps, _ := c.Applications(); len(apps) != 0 {
		t.Fatalf("%d applications before anything was read", len(apps))
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	judged := func(n int) func() bool {
		return func() bool { apps, ok := c.Applications(); return len(apps) == n && ok && apps[0].Loss.LostS.OK }
	}
	until(t, "the first log is judged", judged(1))
	copyLog(t, "mixed", filepath.Join(dir, "second.zstd"))
	until(t, "the second log is judged", judged(2))
	until(t, "the damaged log is listed", func() bool {
		s := c.Status()
		return len(s.Failed) == 1 && strings.HasSuffix(s.Failed[0].Name, "bad.zstd") && len(s.Problems) == 0
	})
	until(t, "the policies are replayed", func() bool { return c.Status().Doing == "" && c.Fresh() })
	until(t, "what is of the whole store is built before anybody asks", func() bool { return c.Built("runs") && c.Built("night") && c.Built("all") })
	apps, _ := c.Applications()
	d, err := c.Document(t.Context(), report.Scope{Application: apps[0].ApplicationID})
	reporttest.Check(t, err)
	if d.Cost.Loss.LostS != apps[0].Loss.LostS || d.Headline.Verdict == "" {
		t.Errorf("the list says %v, the document %v", apps[0].Loss.LostS, d.Cost.Loss.LostS)
	}
	again, err := c.Document(t.Context(), report.Scope{Application: apps[0].ApplicationID})
	if again != d || err != nil {
		t.Errorf("%v: the document was built twice for one state of the store", err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// All logs are listed by name before any is opened, and the newest is shown while others wait.
func TestListedAtOnce(t *testing.T) {
	const logs = 200
	dir := t.TempDir()
	found, err := filepath.Glob(filepath.Join("..", "..", "testdata", "labelled", "skew", "*app-*"))
	reporttest.Check(t, err)
	for i := range logs {
		name := filepath.Join(dir, fmt.Sprintf("%03d-%s", i, filepath.Base(found[0])))
		data := []byte("no log at all\n")
		if i == logs-1 {
			data, err = os.ReadFile(found[0])
			reporttest.Check(t, err)
		}
		reporttest.Check(t, os.WriteFile(name, data, 0o600))
		at := time.Now().Add(time.Duration(i-2*logs) * time.Minute)
		reporttest.Check(t, os.Chtimes(name, at, at))
	}
	all := formats.All()
	opened := make(chan struct{}, logs)
	proceed := make(chan struct{})
	for i := range all {
		sniff := all[i].Sniff
		all[i].Sniff = func(h ingest.Head) ingest.Match {
			select {
			case opened <- struct{}{}:
			default:
			}
			<-proceed
			return sniff(h)
		}
	}
	c := openedWith(t, all, dir)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	<-opened
	if s := c.Status(); len(s.Waiting) != logs || !s.Reading || filepath.Base(s.Waiting[0].Name)[:3] != "199" {
		t.Errorf("%d of %d logs are listed while the first is opened, reading %v", len(s.Waiting), logs, s.Reading)
	}
	close(proceed)
	waited := 0
	until(t, "the newest log is an application", func() bool {
		apps, _ := c.Applications()
		waited = max(waited, len(c.Status().Waiting))
		return len(apps) == 1
	})
	until(t, "every log was looked into", func() bool { s := c.Status(); return len(s.Waiting) == 0 && s.Doing == "" })
	if waited == 0 {
		t.Error("no log waited")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A user's query reads the tables and nothing else, and ends with its context.
func TestQuery(t *testing.T) {
	c := opened(t)
	count := func(ctx context.Context, sql string) (n int, err error) {
		err = c.Query(ctx, sql, func(rows *engine.Rows) error {
			for rows.Next() {
				n++
			}
			return nil
		})
		return n, err
	}
	if n, err := count(t.Context(), "SELECT * FROM range(3)"); n != 3 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
	for _, sql := range []string{"COPY (SELECT 1) TO '/tmp/straggler-escaped'", "SELECT * FROM read_text('/etc/passwd')", "CREATE TABLE x AS SELECT 1"} {
		if _, err := count(t.Context(), sql); !errors.Is(err, engine.ErrStatement) {
			t.Errorf("%s: error %v", sql, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := count(ctx, "SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE a.range * b.range % 7 = 3"); err == nil || time.Since(began) > 20*time.Second {
		t.Errorf("a query without end: %v after %v", err, time.Since(began))
	}
}

// A version that is replaced while it is read stays readable, and commits of other processes are seen.
func TestOtherWriters(t *testing.T) {
	dir := t.TempDir()
	st, err := store.Open(t.Context(), filepath.Join(dir, "lake"), store.Options{})
	reporttest.Check(t, err)
	shown, err := store.Open(t.Context(), st.Where(), store.Options{ReadOnly: true})
	reporttest.Check(t, err)
	c, err := catalog.Open(t.Context(), catalog.Options{Store: shown, Shown: shown, Fixed: true, Formats: formats.All(), Every: 50 * time.Millisecond})
	reporttest.Check(t, err)
	t.Cleanup(func() { c.Close() })
	defer begin(t, c)()
	catalogtest.Commit(t, st)
	until(t, "what another process committed is listed", func() bool { apps, _ := c.Applications(); return len(apps) == 1 })
	err = c.Query(t.Context(), "SELECT * FROM attempts, range(2000)", func(rows *engine.Rows) error {
		if !rows.Next() {
			return rows.Err()
		}
		_, err := st.Compact(t.Context(), "test")
		reporttest.Check(t, err)
		n := 1
		for rows.Next() {
			n++
		}
		if n < 2000 {
			t.Errorf("%d rows while the store was compacted", n)
		}
		return rows.Err()
	})
	if err != nil {
		t.Error(err)
	}
}

// The results of logs that another process adds to a store are made here, since that process need not make them, whether or not
// logs are watched.
func TestResultsOfOtherWriters(t *testing.T) {
	for name, watch := range map[string]bool{"a store": false, "a store and logs": true} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "lake")
			theirs, err := store.Open(t.Context(), dir, store.Options{})
			reporttest.Check(t, err)
			ours, err := store.Open(t.Context(), dir, store.Options{})
			reporttest.Check(t, err)
			o := catalog.Options{Store: ours, Shown: ours, Formats: formats.All(), Every: 50 * time.Millisecond}
			if watch {
				logs := t.TempDir()
				copyLog(t, "skew", filepath.Join(logs, "log.zstd"))
				o.Logs = []string{logs}
			}
			c, err := catalog.Open(t.Context(), o)
			reporttest.Check(t, err)
			t.Cleanup(func() { c.Close() })
			defer begin(t, c)()
			judged := func(applications int) func() bool {
				return func() bool {
					apps, judged := c.Applications()
					return len(apps) == applications && judged && c.Fresh()
				}
			}
			want := 1
			if watch {
				until(t, "the logs are judged", judged(1))
				want = 2
			}
			catalogtest.Commit(t, theirs)
			until(t, "what another process committed is judged", judged(want))
		})
	}
}

// Before outliers and causes of the logs have been found, no run is compared: it would look as if it had lost nothing.
func TestNightWaitsForCauses(t *testing.T) {
	dir := t.TempDir()
	copyLog(t, "skew", filepath.Join(dir, "log.zstd"))
	st, err := store.Temp(t.Context())
	reporttest.Check(t, err)
	t.Cleanup(func() { st.Close() })
	_, err = run.Run(t.Context(), st, formats.All(), []string{dir}, run.Options{Tool: "test"})
	reporttest.Check(t, err)
	c, err := catalog.Open(t.Context(), catalog.Options{Store: st, Shown: st, Formats: formats.All(), Every: 50 * time.Millisecond})
	reporttest.Check(t, err)
	t.Cleanup(func() { c.Close() })
	if n, _, err := c.Night(t.Context()); !errors.Is(err, catalog.ErrBuilding) {
		t.Errorf("%+v, %v", n, err)
	}
	defer begin(t, c)()
	until(t, "the runs are compared", func() bool { n, current, err := c.Night(t.Context()); return err == nil && current && len(n.Runs) == 1 })
}

// While a store-wide result is computed for a new state, the result for the previous state is returned and marked as such.
func TestEarlierState(t *testing.T) {
	dir := t.TempDir()
	copyLog(t, "skew", filepath.Join(dir, "first.zstd"))
	c := opened(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	var proceed chan struct{}
	count := func() (n int, current bool) {
		n, current, err := catalog.Storewide(t.Context(), c, "count", func(context.Context) (int, error) {
			if proceed != nil {
				<-proceed
			}
			apps, _ := c.Applications()
			return len(apps), nil
		})
		reporttest.Check(t, err)
		return n, current
	}
	shown := func(applications int) func() bool {
		return func() bool {
			apps, judged := c.Applications()
			return len(apps) == applications && judged && c.Status().Doing == "" && c.Fresh()
		}
	}
	until(t, "the first log is shown", shown(1))
	if n, current := count(); n != 1 || !current {
		t.Errorf("%d applications, of the present %v", n, current)
	}
	proceed = make(chan struct{})
	copyLog(t, "mixed", filepath.Join(dir, "second.zstd"))
	until(t, "the second log is shown", shown(2))
	if n, current := count(); n != 1 || current {
		t.Errorf("while it is made anew: %d applications, of the present %v", n, current)
	}
	close(proceed)
	until(t, "it is made anew", func() bool { n, current := count(); return n == 2 && current })
	until(t, "the report on all applications is of both", func() bool {
		d, current, err := c.All(t.Context())
		reporttest.Check(t, err)
		return current && d.Trust.Counts.Applications == 2
	})
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
