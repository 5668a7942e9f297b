package spark

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"straggler/engine"
	"straggler/engine/spark/hs2"
	"straggler/engine/spark/sparktest"
)

// slowSQL takes minutes, unless it is stopped.
const slowSQL = "SELECT sum(CAST(sqrt(a.id * b.id) AS DOUBLE)) AS %s FROM range(1000000) a CROSS JOIN range(10000000) b"

// sparkCancelled: when the context ends, so do the cluster's stages, and the connection remains usable.
func sparkCancelled(t *testing.T, c *sparkCase) {
	eng := c.engine(t, "", engine.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	from := c.mark(t)
	go func() {
		c.await(t, from, "Submitting 2 missing tasks")
		cancel()
	}()
	if _, err := eng.Query(ctx, fmt.Sprintf(slowSQL, "cancelled")); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled query ends with %v", err)
	}
	c.await(t, from, "was cancelled") // Stage … was cancelled
	if got := oneRow(t, eng, "SELECT 2"); got[0] != int32(2) {
		t.Errorf("after a cancelled query: %v", got)
	}
}

// sparkFrozen: the server's process is stopped, not ended. Ten seconds are longer than a busy machine takes for any answer
// here.
func sparkFrozen(t *testing.T, c *sparkCase) {
	eng := c.engine(t, "patience=10s&connect=10s&reconnect=1s", engine.Options{})
	oneRow(t, eng, "SELECT 1")
	if err := c.server.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer c.server.Signal(syscall.SIGCONT)
	if _, err := eng.Query(t.Context(), "SELECT 2"); !errors.Is(err, hs2.ErrFrozen) || !errors.Is(err, engine.ErrServer) {
		t.Errorf("a frozen server: %v", err)
	}
}

// sparkKilled: the server is killed while it executes a query, and another one starts in its place.
func sparkKilled(t *testing.T, c *sparkCase) {
	eng := c.engine(t, "reconnect=5m", engine.Options{})
	// The part that it was made from is dropped, and needed again on the other server.
	if err := engine.MaterializeParts(t.Context(), eng, "kept", "WITH n AS (SELECT task FROM attempts) SELECT sum(a.task) AS s FROM n a JOIN n b ON b.task = a.task"); err != nil {
		t.Fatal(err)
	}
	loadRow(t, eng, "loaded")
	// It waits on the first server only, which creates the directory.
	nap := filepath.Join(t.TempDir(), "nap")
	sql := "SELECT t.a, k.s + l.s FROM (SELECT TRANSFORM (1) USING 'if mkdir " + nap +
		"; then while kill -0 $PPID; do sleep 0.1; done; fi; echo done' AS (a STRING)) t CROSS JOIN kept k CROSS JOIN loaded l"
	done := make(chan []any, 1)
	go func() {
		rows, err := eng.Query(t.Context(), sql)
		if err != nil {
			done <- []any{err}
			return
		}
		defer rows.Close()
		rows.Next()
		done <- []any{rows.Value(0), rows.Value(1)}
	}()
	for giveUp := time.Now().Add(3 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(nap); err == nil {
			break
		}
		if time.Now().After(giveUp) {
			t.Fatal("the query never ran")
		}
	}
	c.server.Kill()
	sparktest.Start(t, sparktest.Options{Port: c.server.Port})
	if got := <-done; len(got) != 2 || got[0] != "done" || got[1] != int64(499501) {
		t.Errorf("the query gave %v", got)
	}
}

// mark returns the length of the server's log so far.
func (c *sparkCase) mark(t *testing.T) int {
	text, err := os.ReadFile(c.server.Log())
	if err != nil {
		t.Error(err)
	}
	return len(text)
}

// await waits until a text appears in the server's log after a mark.
func (c *sparkCase) await(t *testing.T, from int, words string) {
	for giveUp := time.Now().Add(3 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(c.server.Log())
		if err != nil || time.Now().After(giveUp) {
			t.Errorf("the server never said %q: %v", words, err)
			return
		}
		if strings.Contains(string(text[min(from, len(text)):]), words) {
			return
		}
	}
}
