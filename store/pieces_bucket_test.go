package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"straggler/bucket"
	"straggler/bucket/s3test"
	"straggler/schema"
	"straggler/store/storetest"
)

// inBuckets checks a law on the grounds that are buckets.
func inBuckets(t *testing.T, law func(t *testing.T, g ground)) {
	onEachGround(t, func(t *testing.T, g ground) {
		if g.inDirectory() {
			t.Skip("a directory's pieces lie in the directory of their transaction")
		}
		law(t, g)
	})
}

// patient opens the store as users do: obsolete files stay for a while.
func (g ground) patient(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), g.where, Options{retry: fewRetries})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// aDayLater commits something, like another writer after a day.
func (g ground) aDayLater(t *testing.T) {
	t.Helper()
	s := g.patient(t)
	s.at.(*objectStore).orphanAge = -time.Hour
	if err := write(t.Context(), s, 99, "later", 1); err != nil {
		t.Fatal(err)
	}
}

// A program that has stored its files when the transaction has ended, committed or not, removes them. One that was killed in
// between leaves them, and the marker by which they are found a day later.
func TestLatePieces(t *testing.T) {
	inBuckets(t, func(t *testing.T, g ground) {
		where, dir := g.where, g.dir
		for _, commits := range []bool{true, false} {
			g.where = fmt.Sprint(where, "/", commits)
			if dir != "" {
				g.dir = filepath.Join(dir, fmt.Sprint(commits))
			}
			s := g.patient(t)
			tx, at := piecesOf(t, s)
			var late [2]*PieceWriter
			for i := range late {
				late[i] = newPiece(t, at)
				if err := late[i].Append(7, schema.BatchOf(storetest.Attempts(7, 10))); err != nil {
					t.Fatal(err)
				}
			}
			named := 0
			if commits {
				named = 1
				if _, err := commitPieces(t, tx, 7, piece(t, at, 7, storetest.Attempts(7, 10), "")); err != nil {
					t.Fatal(err)
				}
			} else if err := tx.Abort(); err != nil {
				t.Fatal(err)
			}
			if _, err := late[0].Close(); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the first says %v", err)
			}
			killed := late[1].to.(*farPiece)
			if err := errors.Join(late[1].tables["attempts"].finish(), killed.send(t.Context(), late[1].tables["attempts"].done[0].Path,
				FileRecord{Path: path.Join("tables/attempts", killed.writer+"-"+killed.id+"-0.parquet"),
					Bytes: late[1].tables["attempts"].done[0].Bytes})); err != nil {
				t.Fatal(err)
			}
			if found := filesIn(t, s, "tables"); len(found) != named+1 {
				t.Errorf("files of the tables: %v", found)
			}
			if found := filesIn(t, s, "staging"); !slices.Equal(found, []string{killed.mark()}) {
				t.Errorf("marks: %v", found)
			}
			g.aDayLater(t)
			if found := filesIn(t, s, "staging"); len(found) > 0 {
				t.Errorf("a day later there are still %v", found)
			}
			if found := filesIn(t, s, "tables"); len(found) != named+2 { // two of the commit made meanwhile
				t.Errorf("a day later the files of the tables are %v", found)
			}
		}
	})
}

// The files of a committing process that is killed between storing them and the commit are removed a day later, together with
// those that its programs stored even after that; and not before they are a day old themselves.
func TestDeadTransactionsPieces(t *testing.T) {
	inBuckets(t, func(t *testing.T, g ground) {
		s := g.patient(t)
		tx, at := piecesOf(t, s)
		tx.pieces.(*bucketPieces).stop()
		piece(t, at, 7, storetest.Attempts(7, 10), "said")
		tx.lock.Close()
		left := filesIn(t, s, "tables", "staging")
		if len(left) != 4 { // a file, data, two marks
			t.Fatalf("left are %v", left)
		}
		if err := write(t.Context(), g.patient(t), 1, "a", 1); err != nil {
			t.Fatal(err)
		}
		if found := filesIn(t, s, "tables", "staging"); len(found) != len(left)+2 {
			t.Errorf("at once there are %v", found)
		}
		piece(t, at, 7, storetest.Attempts(7, 10), "")
		if g.dir != "" { // where times can be set: the writer has been dead for long, and a file is younger
			age(t, g, filepath.Join("staging", tx.writer), 2*orphanAge)
			if err := write(t.Context(), g.patient(t), 2, "b", 1); err != nil {
				t.Fatal(err)
			}
			if found := filesIn(t, s, "staging"); !slices.Contains(found, markOf(tx.writer)) {
				t.Errorf("the sign of the dead writer went before its files: %v", found)
			}
		}
		g.aDayLater(t)
		if found := filesIn(t, s, "staging"); len(found) > 0 {
			t.Errorf("a day later there are %v", found)
		}
		for _, name := range filesIn(t, s, "tables") {
			if strings.Contains(name, tx.writer) {
				t.Errorf("a day later there is %s", name)
			}
		}
	})
}

// age makes a file older.
func age(t *testing.T, g ground, name string, by time.Duration) {
	t.Helper()
	then := time.Now().Add(-by)
	if err := os.Chtimes(filepath.Join(g.dir, name), then, then); err != nil {
		t.Fatal(err)
	}
}

// A transaction whose programs work for more than a day renews its marker, and another writer's cleaning does not touch its
// pieces.
func TestLongTransactionsPieces(t *testing.T) {
	g := grounds[1].make(t)
	t.Setenv("STRAGGLER_CACHE", t.TempDir())
	s := g.patient(t)
	s.at.(*objectStore).renewal = time.Millisecond
	tx, at := piecesOf(t, s)
	p := piece(t, at, 7, storetest.Attempts(7, 10), "said")
	dead := "tables/jobs/dead-0.parquet"
	for _, name := range []string{dead, "staging/dead"} {
		if err := writeObject(t, s, name, "x"); err != nil {
			t.Fatal(err)
		}
	}
	mark := filepath.Join(g.dir, markOf(tx.writer))
	for _, name := range filesIn(t, s, "tables", "staging") {
		age(t, g, name, 2*orphanAge)
	}
	for giveUp := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if info, err := os.Stat(mark); err == nil && time.Since(info.ModTime()) < orphanAge {
			break
		}
		if time.Now().After(giveUp) {
			t.Fatal("the mark is not renewed")
		}
	}
	if err := write(t.Context(), g.patient(t), 1, "a", 1); err != nil {
		t.Fatal(err)
	}
	if found := filesIn(t, s, "tables"); slices.Contains(found, dead) {
		t.Errorf("nothing was cleaned: %v", found)
	}
	if err := tx.FetchData(t.Context(), []*Piece{p}); err != nil {
		t.Error(err)
	}
	if _, err := commitPieces(t, tx, 7, p); err != nil {
		t.Fatal(err)
	}
	whole(t, s, 10, 3)
}

// More pieces than a server lists at once are all found: those that a commit names, and those to be removed.
func TestManyPieces(t *testing.T) {
	s3test.Serve(t)
	s := ground{where: "s3://lakes/x"}.patient(t)
	tx, at := piecesOf(t, s)
	p := piece(t, at, 7, storetest.Attempts(7, 10), "")
	for i := range 1100 { // whose names precede it
		if err := writeObject(t, s, fmt.Sprintf("tables/attempts/%s-2-%d.parquet", tx.writer, i), "x"); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(filesIn(t, s, "tables")); n != 1101 {
		t.Fatalf("%d files", n)
	}
	if _, err := commitPieces(t, tx, 7, p); err != nil {
		t.Fatal(err)
	}
	whole(t, s, 10, 1)
}

// Programs and the transaction retry if the server fails every third request, and nothing is lost or duplicated.
func TestPiecesOverServerErrors(t *testing.T) {
	server := s3test.Serve(t)
	g := ground{where: "s3://lakes/x?region=eu-south-2", server: server}
	var refused atomic.Int64
	server.Intercept(func(w http.ResponseWriter, r *http.Request, n int64) bool {
		switch n % 4 {
		case 0:
			refused.Add(1)
			io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, "<Error><Code>SlowDown</Code><Message>not now</Message></Error>")
			return true
		case 2:
			refused.Add(1)
			server.Swallow(r)
		}
		return false
	})
	many := bucket.RetryPolicy{Tries: 30, Pause: time.Millisecond}
	s, err := Open(t.Context(), g.where, Options{retry: many})
	if err != nil {
		t.Fatal(err)
	}
	tx, at := piecesOf(t, s)
	var ps []*Piece
	for i := range 5 {
		w := NewPiece(t.Context(), at)
		w.to.(*farPiece).o.retry = many
		err := w.Append(7, schema.BatchOf(storetest.Attempts(7, 50)[10*i:10*i+10]))
		if err == nil {
			_, err = fmt.Fprint(w, "said by ", i)
		}
		if err != nil {
			t.Fatal(err)
		}
		p, err := w.Close()
		if err != nil {
			t.Fatal(err)
		}
		if i != 3 { // piece 3 has another run
			ps = append(ps, sent(t, p))
		}
	}
	if err := tx.FetchData(t.Context(), ps); err != nil {
		t.Fatal(err)
	}
	for i, p := range ps {
		data, err := tx.OpenData(p)
		if err != nil {
			t.Fatal(err)
		}
		if said, err := io.ReadAll(data); err != nil || string(said) != fmt.Sprint("said by ", []int{0, 1, 2, 4}[i]) {
			t.Errorf("it says %q, %v", said, err)
		}
		data.Close()
	}
	if _, err := commitPieces(t, tx, 7, ps...); err != nil {
		t.Fatal(err)
	}
	server.Intercept(nil)
	if refused.Load() < 20 {
		t.Errorf("%d requests were refused", refused.Load())
	}
	whole(t, s, 40, 4)
}

// If it is unknown whether the commit was accepted, its files stay, and those that it does not name are removed.
func TestPiecesOfADoubtfulCommit(t *testing.T) {
	server := s3test.Serve(t)
	g := ground{where: "s3://lakes/x", server: server}
	s := g.patient(t)
	tx, at := piecesOf(t, s)
	p := piece(t, at, 7, storetest.Attempts(7, 10), "")
	piece(t, at, 7, storetest.Attempts(7, 10), "") // another run
	committed := false
	server.Intercept(func(w http.ResponseWriter, r *http.Request, _ int64) bool {
		switch {
		case !strings.Contains(r.URL.Path, "/commits/"):
			return false
		case s3test.Changes(r) && !committed:
			committed = true
			server.Swallow(r)
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	if _, err := commitPieces(t, tx, 7, p); err == nil || !strings.Contains(err.Error(), "is or may be visible") {
		t.Errorf("it says %v", err)
	}
	server.Intercept(nil)
	if found := filesIn(t, s, "staging"); !slices.Equal(found, []string{markOf(tx.writer)}) {
		t.Errorf("in staging are %v", found)
	}
	s = g.patient(t)
	if n, found := len(visible[schema.Attempt](t, s)), filesIn(t, s, "tables"); n != 10 || len(found) != 1 {
		t.Errorf("%d attempts, %v", n, found)
	}
	g.aDayLater(t)
	whole(t, s, 10, 3)
}

// A machine of the cluster that may not write to the bucket reports what its users can do, before it works in vain, and no
// secret.
func TestPiecesDenied(t *testing.T) {
	server := s3test.Serve(t)
	g := ground{where: "s3://lakes/x", server: server}
	s := g.patient(t)
	tx, at := piecesOf(t, s)
	defer tx.Abort()
	for _, refuse := range []func(*http.Request) bool{func(*http.Request) bool { return true }, s3test.Changes} {
		server.Intercept(func(w http.ResponseWriter, r *http.Request, _ int64) bool {
			if !refuse(r) {
				return false
			}
			io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, "<Error><Code>AccessDenied</Code><Message>no, %s</Message></Error>", s3test.AccessKey)
			return true
		})
		err := newPiece(t, at).Append(7, schema.BatchOf(storetest.Attempts(7, 10)))
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "results=server") {
			t.Errorf("it says %v", err)
		}
		s3test.KeepsSecrets(t, err)
	}
	server.Intercept(nil)
}

// A file for other machines is read there unchanged, and is gone when it is closed.
func TestStaged(t *testing.T) {
	onEachGround(t, func(t *testing.T, g ground) {
		s := g.open(t)
		for _, size := range []int{0, 10, bucket.PartBytes + 10} {
			data := slices.Repeat([]byte("what copies must know\n"), size/22+1)[:size]
			f, err := s.Stage(t.Context(), data)
			if err != nil {
				t.Fatal(err)
			}
			at := AddressOf(s.Address(), f.Name)
			if got, err := ReadStaged(t.Context(), at); err != nil || string(got) != string(data) {
				t.Errorf("%d bytes of %d: %v", len(got), size, err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			if _, err := ReadStaged(t.Context(), at); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("after the end: %v", err)
			}
		}
		if left := filesIn(t, s, "staging"); len(left) > 0 {
			t.Errorf("left are %v", left)
		}
		ctx, cancel := context.WithCancel(t.Context())
		f, err := s.Stage(ctx, []byte("x"))
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := f.Close(); err != nil {
			t.Errorf("after Ctrl-C: %v", err)
		}
		if left := filesIn(t, s, "staging"); len(left) > 0 {
			t.Errorf("left after Ctrl-C are %v", left)
		}
	})
}

func TestAddressOf(t *testing.T) {
	for _, c := range [][3]string{
		{"/shared/lake", "staging/1-0/pieces", "/shared/lake/staging/1-0/pieces"},
		{"s3://lakes", "staging/a", "s3://lakes/staging/a"},
		{"s3://lakes/staging/lake/?endpoint=http://127.0.0.1:9000/x&region=r", "staging/a",
			"s3://lakes/staging/lake/staging/a?endpoint=http://127.0.0.1:9000/x&region=r"},
		{"file:///shared/lake", "staging/a", "file:///shared/lake/staging/a"},
	} {
		at := AddressOf(c[0], c[1])
		if at != c[2] {
			t.Errorf("%s in %s is %s", c[1], c[0], at)
		}
		where, name, err := splitStaged(at)
		if strings.Contains(c[0], "://") && (err != nil || name != c[1] || where != strings.Replace(c[0], "/?", "?", 1)) {
			t.Errorf("%s is %s in %s, %v", at, name, where, err)
		}
	}
	if _, _, err := splitStaged("s3://lakes/x"); err == nil {
		t.Error("an object that is not staged")
	}
}

// A program sends a constant number of requests for a piece, on which BENCH.md relies.
func TestRequestsOfPieces(t *testing.T) {
	server := s3test.Serve(t)
	s := ground{where: "s3://lakes/x"}.patient(t)
	tx, at := piecesOf(t, s)
	before := server.Requests.Load()
	p := piece(t, at, 7, storetest.Attempts(7, 10), "said")
	each := server.Requests.Load() - before
	before = server.Requests.Load()
	if err := tx.FetchData(t.Context(), []*Piece{p}); err != nil {
		t.Fatal(err)
	}
	fetched := server.Requests.Load() - before
	before = server.Requests.Load()
	if _, err := commitPieces(t, tx, 7, p); err != nil {
		t.Fatal(err)
	}
	committed := server.Requests.Load() - before
	t.Logf("%d requests of a copy, %d to fetch what it says, %d to commit, of which %d list the tables", each, fetched, committed, len(schema.Tables()))
	if each > 8 || fetched > 1 || committed > int64(len(schema.Tables()))+10 {
		t.Error("these are more than BENCH.md says")
	}
}
