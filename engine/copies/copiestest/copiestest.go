// Package copiestest takes an engine and returns one for tests that runs copies of this program as a cluster does.
package copiestest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"straggler/engine"
	"straggler/engine/copies"
	"straggler/store"
)

// Cluster is an engine that hands rows to copies as a cluster does: as text, in shares, here one after the other. Every copy
// runs twice, as one does that seems slow, and between that it dies on the way; the line of the last is what comes back.
type Cluster struct {
	engine.Engine
	T     testing.TB
	Store *store.Store
	Work  func(context.Context, copies.Assignment) error // what a copy does
	Steps []string                                       // that were done
	// bytes of the file of each step, which every copy reads
	Told     []int
	ReadOnly bool // its machines cannot write to the store
}

// StoreAddress returns the directory of the store.
func (m *Cluster) StoreAddress() (string, error) {
	if m.ReadOnly {
		return "", fmt.Errorf("no place for a file: %w", errors.ErrUnsupported)
	}
	return m.Store.Address(), nil
}

// Load passes rows to the engine in this process that simulates the cluster's.
func (m *Cluster) Load(ctx context.Context, name string, columns []engine.Column, next func() *engine.Batch) error {
	return m.Engine.(engine.Loader).Load(ctx, name, columns, next)
}

// RunRemote runs the copies.
func (m *Cluster) RunRemote(ctx context.Context, w engine.RemoteJob) (*engine.Rows, error) {
	m.Steps, m.Told = append(m.Steps, w.Verb[1]), append(m.Told, len(w.File))
	file := m.T.TempDir() + "/told"
	if err := os.WriteFile(file, w.File, 0o666); err != nil {
		return nil, err
	}
	pieces := w.Verb[slices.Index(w.Verb, "--pieces")+1]
	rows, err := m.Query(ctx, w.SQL+" ORDER BY "+w.Order)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	const parts = 3
	var in [parts]strings.Builder
	for rows.Next() {
		h := fnv.New32()
		fmt.Fprint(h, rows.Value(0))
		part := &in[h.Sum32()%parts]
		for i := range rows.Columns() {
			if i > 0 {
				part.WriteByte('\t')
			}
			part.WriteString(hiveText(rows.Value(i)))
		}
		part.WriteByte('\n')
	}
	var values []string
	for i := range in {
		var out strings.Builder
		for _, text := range []string{in[i].String(), in[i].String() + "broken\n", in[i].String()} {
			out.Reset()
			if err := m.Work(ctx, copies.Assignment{Step: w.Verb[1], Pieces: pieces, File: file, In: strings.NewReader(text), Out: &out}); (err != nil) != (strings.HasSuffix(text, "broken\n")) {
				return nil, fmt.Errorf("a copy: %w", err)
			}
		}
		for line := range strings.Lines(out.String()) {
			key, found, _ := strings.Cut(strings.TrimSpace(line), "\t")
			values = append(values, "(CAST("+key+" AS BIGINT), '"+found+"')")
		}
	}
	if len(values) == 0 {
		return m.Query(ctx, "SELECT CAST(0 AS BIGINT) AS key, '' AS output WHERE false")
	}
	return m.Query(ctx, "SELECT * FROM (VALUES "+strings.Join(values, ", ")+") AS t(key, output) ORDER BY key NULLS LAST")
}

// hiveText returns a value as Spark writes it for a program.
func hiveText(v any) string {
	switch v := v.(type) {
	case nil:
		return `\N`
	case float64:
		switch {
		case math.IsNaN(v):
			return "NaN"
		case v == 0 || math.Abs(v) >= 1e-3 && math.Abs(v) < 1e7:
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
		return strings.ToUpper(strconv.FormatFloat(v, 'e', -1, 64))
	}
	return fmt.Sprint(v)
}
