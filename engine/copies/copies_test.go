package copies

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/engine/enginetest"
	"straggler/schema"
	"straggler/store"
)

// played is an engine whose copies print what a test specifies.
type played struct {
	engine.Engine
	st     *store.Store
	copies []func(dir string, out io.Writer) error
}

func (p *played) StoreAddress() (string, error) { return p.st.Address(), nil }

func (p *played) RunRemote(ctx context.Context, job engine.RemoteJob) (*engine.Rows, error) {
	dir := job.Verb[slices.Index(job.Verb, "--pieces")+1]
	values := []string{}
	for _, run := range p.copies {
		var out strings.Builder
		if err := run(dir, &out); err != nil {
			return nil, err
		}
		key, text, _ := strings.Cut(strings.TrimSpace(out.String()), engine.RemoteSeparator)
		if key != "" {
			values = append(values, fmt.Sprintf("(CAST(%s AS BIGINT), '%s')", key, text))
		}
	}
	return p.Query(ctx, "SELECT * FROM (VALUES "+strings.Join(values, ", ")+") AS t(key, output)")
}

// says makes a copy that writes a row and a message for each of its keys.
func says(keys ...schema.Key) func(dir string, out io.Writer) error {
	return func(dir string, out io.Writer) error {
		w := NewWriter(context.Background(), dir)
		for _, k := range keys {
			err := errors.Join(Append(w, k, 0, []schema.Attribution{{AttemptID: k, PhaseID: k, Cause: schema.GC}}), w.Message(k, fmt.Append(nil, "about ", k)))
			if err != nil {
				return w.Close(out, err)
			}
		}
		return w.Close(out, nil)
	}
}

// Messages are ordered by key, whichever copy sent them; rows are committed once; and keys claimed by two copies are an
// error.
func TestRun(t *testing.T) {
	for _, c := range []struct {
		name   string
		copies []func(string, io.Writer) error
		want   string
		err    error
	}{
		{"merged", []func(string, io.Writer) error{says(5, 9), says(), says(-3, 1, 7, 12)}, "-3 1 5 7 9 12", nil},
		{"the same first key", []func(string, io.Writer) error{says(1, 2), says(1, 2)}, "", ErrTwice},
		{"a key of two", []func(string, io.Writer) error{says(1, 4), says(2, 4)}, "1 2 4", ErrTwice},
		{"a copy's mistake", []func(string, io.Writer) error{says(4, 1)}, "", errors.ErrUnsupported},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := enginetest.Store(t)
			eng, err := engines.Open(t.Context(), st, engine.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer eng.Close()
			tx, err := st.Begin(t.Context(), store.Origin{Kind: store.Causes, Tool: "test"})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			err = Run(t.Context(), tx, &played{eng, st, c.copies}, engine.RemoteJob{Verb: []string{"copy"}}, func(key schema.Key, message []byte) error {
				got = append(got, fmt.Sprint(key))
				if string(message) != fmt.Sprint("about ", key) {
					t.Errorf("of %d: %q", key, message)
				}
				return nil
			})
			if (err != nil) != (c.err != nil) || c.err == ErrTwice && !errors.Is(err, ErrTwice) || strings.Join(got, " ") != c.want {
				t.Fatalf("messages about %v, %v; want %s, %v", got, err, c.want, c.err)
			}
			if err != nil {
				if err := tx.Abort(); err != nil {
					t.Error(err)
				}
				return
			}
			commit, err := tx.Commit(t.Context())
			if err != nil || commit.Rows()["attributions"] != 6 {
				t.Errorf("%v rows: %v", commit.Rows(), err)
			}
		})
	}
}
