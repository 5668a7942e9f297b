package store

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"straggler/schema"
	"straggler/store/storetest"
)

// sent is a piece as it arrives: through JSON.
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

// piece writes rows and data as a program on another machine does.
func piece(t *testing.T, dir string, input schema.Key, rows []schema.Attempt, data string) *Piece {
	t.Helper()
	w := NewPiece(t.Context(), dir)
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

// piecesOf begins a transaction and gives the directory of its pieces.
func piecesOf(t *testing.T, s *Store) (*Tx, string) {
	t.Helper()
	tx, err := s.Begin(t.Context(), Origin{Kind: Log, Tool: "test"})
	if err != nil {
		t.Fatal(err)
	}
	name, err := tx.PiecesDir()
	if err != nil {
		t.Fatal(err)
	}
	again, err := tx.PiecesDir()
	if err != nil || again != name {
		t.Fatalf("the directory of pieces is %s, and then %s: %v", name, again, err)
	}
	return tx, filepath.Join(s.Where(), name)
}

// A commit has the rows of the pieces that were added, in their order, and nothing of those that were not; its own rows count too.
func TestPieces(t *testing.T) {
	s := testStore(t)
	tx, dir := piecesOf(t, s)
	const input = 7
	rows := storetest.Attempts(input, 300)
	second := piece(t, dir, input, rows[100:200], "")
	first := piece(t, dir, input, rows[:100], "what it says")
	for range 2 { // runs of the same work that are not the ones that count
		piece(t, dir, input, rows[:100], "what it says")
	}
	unfinished := NewPiece(t.Context(), dir)
	if err := unfinished.Append(input, schema.BatchOf(rows[:100])); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*Piece{first, second} {
		if err := tx.AddPiece(p); err != nil {
			t.Fatal(err)
		}
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
	if err := tx.Input(InputRecord{Name: "log", Key: input, Fingerprint: "f"}); err != nil {
		t.Fatal(err)
	}
	c, err := tx.Commit(t.Context())
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
	if len(order) != 3 || order[0] != 100 || order[1] != 100 || order[2] != 100 {
		t.Errorf("files of %v rows", order)
	}
	if left, _ := filepath.Glob(s.Where() + "/staging/*"); len(left) > 0 {
		t.Errorf("left in staging: %v", left)
	}
	if files, _ := filepath.Glob(s.Where() + "/tables/*/*"); len(files) != 3 {
		t.Errorf("files of the tables: %v", files)
	}
	if problems, err := s.Verify(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v, %v", problems, err)
	}
	if _, err := unfinished.Close(); err == nil {
		t.Error("a program that comes too late has written its piece somewhere")
	}
}

// What a piece says is not believed where it can be seen to be wrong.
func TestPiecesRefused(t *testing.T) {
	for name, spoil := range map[string]func(dir string, p *Piece){
		"another directory": func(dir string, p *Piece) { p.Tables[0].Files[0].Path = "../lock" },
		"no name":           func(dir string, p *Piece) { p.Tables[0].Files[0].Path = "" },
		"hidden":            func(dir string, p *Piece) { p.Tables[0].Files[0].Path = ".." },
		"no table":          func(dir string, p *Piece) { p.Tables[0].Name = "users" },
		"not there":         func(dir string, p *Piece) { os.Remove(filepath.Join(dir, p.Tables[0].Files[0].Path)) },
		"shorter":           func(dir string, p *Piece) { os.Truncate(filepath.Join(dir, p.Tables[0].Files[0].Path), 10) },
		"a link": func(dir string, p *Piece) {
			at := filepath.Join(dir, p.Tables[0].Files[0].Path)
			os.Rename(at, at+"-away")
			os.Symlink(at+"-away", at)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := testStore(t)
			tx, dir := piecesOf(t, s)
			p := piece(t, dir, 7, storetest.Attempts(7, 10), "")
			spoil(dir, p)
			if err := tx.AddPiece(p); err == nil {
				t.Error("it is taken")
			}
			if err := tx.Abort(); err != nil {
				t.Error(err)
			}
			if left, _ := filepath.Glob(s.Where() + "/staging/*"); len(left) > 0 {
				t.Errorf("left in staging: %v", left)
			}
		})
	}
}

// Data that is not what was written is found at its end, and a directory that cannot be written to is said.
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
