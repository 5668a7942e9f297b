package store

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"straggler/schema"
	"straggler/store/storetest"
)

// sent returns a piece as it arrives: through JSON.
func sent(t *testing.T, p Piece) *Piece {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	got := new(Piece)
	if err := json.Unmarshal(text, got); err != nil {
		t.Fatal(err)
	}
	return got
}

// newPiece begins a piece like a program on another machine, whose requests are not retried for long.
func newPiece(t *testing.T, at string) *PieceWriter {
	w := NewPiece(t.Context(), at)
	if far, ok := w.to.(*farPiece); ok {
		far.o.retry = fewRetries
	}
	return w
}

// piece writes rows and data like a program on another machine.
func piece(t *testing.T, at string, input schema.Key, rows []schema.Attempt, data string) *Piece {
	t.Helper()
	w := newPiece(t, at)
	if err := w.Append(input, schema.BatchOf(rows)); err != nil {
		t.Fatal(err)
	}
	if data != "" {
		if _, err := io.WriteString(w, data); err != nil {
			t.Fatal(err)
		}
	}
	p, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return sent(t, p)
}

// piecesOf begins a transaction and returns the address of its pieces.
func piecesOf(t *testing.T, s *Store) (*Tx, string) {
	t.Helper()
	tx, err := s.Begin(t.Context(), Origin{Kind: Log, Tool: "test"})
	if err != nil {
		t.Fatal(err)
	}
	name, err := tx.Pieces()
	if err != nil {
		t.Fatal(err)
	}
	again, err := tx.Pieces()
	if err != nil || again != name {
		t.Fatalf("the place of pieces is %s, and then %s: %v", name, again, err)
	}
	return tx, AddressOf(s.Address(), name)
}

// commitPieces commits the rows of pieces as those of an input.
func commitPieces(t *testing.T, tx *Tx, input schema.Key, ps ...*Piece) (Commit, error) {
	t.Helper()
	for _, p := range ps {
		if err := tx.AddPiece(p); err != nil {
			return Commit{}, err
		}
	}
	if err := tx.Input(InputRecord{Name: "log", Key: KeyText(input), Fingerprint: "f"}); err != nil {
		t.Fatal(err)
	}
	return tx.Commit(t.Context())
}

// filesIn returns the names of the files in directories of a store.
func filesIn(t *testing.T, s *Store, dirs ...string) []string {
	t.Helper()
	var out []string
	for _, dir := range dirs {
		found, err := s.at.list(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			out = append(out, f.name)
		}
	}
	return out
}

// whole checks that a store shows the given number of attempts and has no stray files.
func whole(t *testing.T, s *Store, attempts, files int) {
	t.Helper()
	if n := len(visible[schema.Attempt](t, s)); n != attempts {
		t.Errorf("%d attempts of %d", n, attempts)
	}
	if problems, err := s.Verify(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("verify: %+v, %v", problems, err)
	}
	if found := filesIn(t, s, "tables"); len(found) != files {
		t.Errorf("%d files of the tables: %v", files, found)
	}
	if found := filesIn(t, s, "staging"); len(found) > 0 {
		t.Errorf("left in staging: %v", found)
	}
}

// A commit has the rows of the pieces that were added, in order, and none of the others; its own rows count too.
func TestPieces(t *testing.T) {
	onEachGround(t, func(t *testing.T, g ground) {
		s := g.open(t)
		tx, at := piecesOf(t, s)
		const input = 7
		rows := storetest.Attempts(input, 300)
		second := piece(t, at, input, rows[100:200], "")
		first := piece(t, at, input, rows[:100], "what it says")
		for range 2 { // runs of the same work that do not count
			piece(t, at, input, rows[:100], "what it says")
		}
		unfinished := newPiece(t, at)
		if err := unfinished.Append(input, schema.BatchOf(rows[:100])); err != nil {
			t.Fatal(err)
		}
		for _, p := range []*Piece{first, second} {
			if err := tx.AddPiece(p); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.FetchData(t.Context(), []*Piece{first, second}); err != nil {
			t.Fatal(err)
		}
		data, err := tx.OpenData(first)
		if err != nil {
			t.Fatal(err)
		}
		if said, err := io.ReadAll(data); err != nil || string(said) != "what it says" {
			t.Errorf("the piece says %q: %v", said, err)
		}
		if err := data.Close(); err != nil {
			t.Error(err)
		}
		if err := Append(tx, input, rows[200:]); err != nil {
			t.Fatal(err)
		}
		c, err := commitPieces(t, tx, input)
		if err != nil {
			t.Fatal(err)
		}
		if n := c.Inputs[0].Rows["attempts"]; n != 300 {
			t.Errorf("the input has %d rows", n)
		}
		var order []int64
		for _, f := range c.Tables[0].Files {
			order = append(order, f.Rows)
		}
		if !slices.Equal(order, []int64{100, 100, 100}) {
			t.Errorf("files of %v rows", order)
		}
		if _, err := unfinished.Close(); err == nil {
			t.Error("a program that comes too late has written its piece somewhere")
		}
		whole(t, s, 300, 3)
	})
}

// Claims of a piece that can be seen to be wrong are rejected.
func TestPiecesRefused(t *testing.T) {
	onEachGround(t, func(t *testing.T, g ground) {
		file := func(p *Piece) *FileRecord { return &p.Tables[0].Files[0] }
		spoils := map[string]func(s *Store, dir string, p *Piece){
			"another directory": func(_ *Store, _ string, p *Piece) { file(p).Path = "../lock" },
			"no name":           func(_ *Store, _ string, p *Piece) { file(p).Path = "" },
			"hidden":            func(_ *Store, _ string, p *Piece) { file(p).Path = ".." },
			"no table":          func(_ *Store, _ string, p *Piece) { p.Tables[0].Name = "users" },
			"other columns":     func(_ *Store, _ string, p *Piece) { p.Tables[0].Columns = "0" },
		}
		if g.inDirectory() {
			spoils["not there"] = func(_ *Store, dir string, p *Piece) { os.Remove(filepath.Join(dir, file(p).Path)) }
			spoils["shorter"] = func(_ *Store, dir string, p *Piece) { os.Truncate(filepath.Join(dir, file(p).Path), 10) }
			spoils["a link"] = func(_ *Store, dir string, p *Piece) {
				at := filepath.Join(dir, file(p).Path)
				os.Rename(at, at+"-away")
				os.Symlink(at+"-away", at)
			}
		} else {
			spoils["not there"] = func(s *Store, _ string, p *Piece) { s.at.remove(t.Context(), file(p).Path) }
			spoils["shorter"] = func(s *Store, _ string, p *Piece) { writeObject(t, s, file(p).Path, "short") }
			spoils["of another table"] = func(_ *Store, _ string, p *Piece) {
				file(p).Path = strings.Replace(file(p).Path, "attempts", "jobs", 1)
			}
			spoils["of another transaction"] = func(_ *Store, _ string, p *Piece) { file(p).Path = "tables/attempts/another-0.parquet" }
			spoils["above its table"] = func(_ *Store, _ string, p *Piece) {
				dir, name := filepath.Split(file(p).Path)
				file(p).Path = dir + strings.SplitAfter(name, "-")[0] + "/../../" + name
			}
		}
		others := []string{"of another table", "of another transaction", "above its table"}
		for name, spoil := range spoils {
			t.Run(name, func(t *testing.T) {
				s := g.open(t)
				before := filesIn(t, s, "tables")
				tx, at := piecesOf(t, s)
				p := piece(t, at, 7, storetest.Attempts(7, 10), "")
				spoil(s, at, p)
				_, err := commitPieces(t, tx, 7, p)
				if elsewhere := p.Tables[0].Name == "attempts" && !strings.HasSuffix(file(p).Path, ".parquet") ||
					slices.Contains(others, name); err == nil || elsewhere && !strings.Contains(err.Error(), "a piece names a") {
					t.Errorf("it says %v", err)
				}
				if err := tx.Abort(); err != nil {
					t.Error(err)
				}
				if left := filesIn(t, s, "tables", "staging"); !slices.Equal(left, before) {
					t.Errorf("left are %v", left)
				}
				if list, err := s.List(t.Context()); err != nil || len(list) > 0 {
					t.Errorf("%d commits, %v", len(list), err)
				}
			})
		}
	})
}

// Corrupt data is found at its end, and a directory that cannot be written to is reported.
func TestPiecesDamaged(t *testing.T) {
	s := testStore(t)
	tx, dir := piecesOf(t, s)
	p := piece(t, dir, 7, nil, strings.Repeat("what it says ", 9999))
	name := filepath.Join(dir, p.Data.Path)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text[77777] ^= 1
	if err := os.WriteFile(name, text, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := tx.FetchData(t.Context(), []*Piece{p}); err != nil {
		t.Fatal(err)
	}
	data, err := tx.OpenData(p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(data); !errors.Is(err, ErrDamaged) {
		t.Errorf("changed data: %v", err)
	}
	if err := errors.Join(data.Close(), tx.Abort()); err != nil {
		t.Error(err)
	}
	w := NewPiece(t.Context(), dir)
	if _, err := io.WriteString(w, "too late"); err == nil || !strings.Contains(err.Error(), "cannot write to the store") {
		t.Errorf("without the directory: %v", err)
	}
}
