package store

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"straggler/schema"
)

// A commit is one small file that names what it adds to the store and what it hides of earlier commits. It is created
// atomically, by a link or a conditional put, which fails when the sequence number is taken, and is never changed afterwards:
// the state of the store is determined by its commits in the order of their numbers.

// commitFormat is the version of the commit file and of the store's layout. Commits that use nothing new are written in
// plainFormat, so that earlier versions of straggler can read them.
const (
	commitFormat = 3
	plainFormat  = 1 // without Saw, Kept and Keyed; 2 has no Keyed
)

// Kind is the kind of content of a commit.
type Kind string

const (
	Log Kind = "log" // rows read from logs; log commits add up
	// results of detect; the last commit of a kind of result replaces the earlier ones, except what it lists in Kept
	Detect   Kind = "detect"
	Causes   Kind = "causes"   // results of causes
	Plans    Kind = "plans"    // results of plans
	Whatif   Kind = "whatif"   // results of whatif
	Simulate Kind = "simulate" // results of simulate
	Removal  Kind = "removal"  // nothing but retirements
)

// resultKinds are the kinds of results, in the order of their verbs.
var resultKinds = []Kind{Detect, Causes, Plans, Whatif, Simulate}

func (k Kind) result() bool { return slices.Contains(resultKinds, k) }

// Commit is the content of a commit file.
type Commit struct {
	Format   int    `json:"format"`
	Sequence int64  `json:"sequence"`
	ID       string `json:"id"` // of a log commit: the same for the same inputs
	Kind     Kind   `json:"kind"`
	Tool     string `json:"tool"` // version of straggler
	// of a result commit: digest of the columns of result tables, as that straggler knew them
	Columns  string         `json:"columns,omitempty"`
	State    string         `json:"state,omitempty"`    // of a result commit: the State of the logs it was computed from
	Inputs   []InputRecord  `json:"inputs,omitempty"`   // what its rows were read from
	Retired  []KeyText      `json:"retired,omitempty"`  // inputs whose rows in earlier commits are hidden
	Replaced []int64        `json:"replaced,omitempty"` // earlier commits that are hidden altogether
	Ingests  []IngestRecord `json:"ingests,omitempty"`  // of a compaction: the ingests whose own rows it holds
	// of a result commit: inputs that its rows are computed from, each row from a single one
	Saw      []InputState  `json:"saw,omitempty"`
	Kept     []KeptRecord  `json:"kept,omitempty"` // of a result commit: earlier ones of its kind that count with it
	Tables   []TableRecord `json:"tables,omitempty"`
	Checksum string        `json:"checksum"` // of this file with an empty checksum
}

// InputRecord describes an input whose rows are in a commit.
type InputRecord struct {
	Name        string           `json:"name"` // as the user wrote it
	Key         KeyText          `json:"key"`
	Bytes       int64            `json:"bytes"`           // of its decompressed content
	Fingerprint string           `json:"fingerprint"`     // hash of its whole content, in hex
	Format      string           `json:"format"`          // the format it was read as
	Ingest      string           `json:"ingest"`          // id of the ingest that brought it
	Rows        map[string]int64 `json:"rows,omitempty"`  // rows by table
	Extra       json.RawMessage  `json:"extra,omitempty"` // what ingest records about it
}

// KeysOf returns the keys of inputs.
func KeysOf(inputs []InputRecord) []schema.Key {
	keys := make([]schema.Key, len(inputs))
	for i := range inputs {
		keys[i] = schema.Key(inputs[i].Key)
	}
	return keys
}

// InputState is an input in the state in which a result commit saw it.
type InputState struct {
	Key   KeyText `json:"key"`
	State string  `json:"state"` // "": one that had changed by the time of the commit
}

// KeptRecord names an earlier result commit that still counts, and the inputs whose rows in it are hidden.
type KeptRecord struct {
	Sequence int64     `json:"sequence"`
	Dropped  []KeyText `json:"dropped,omitempty"`
}

// IngestRecord names an ingest, and the key under which a compaction keeps the rows that belong to none of its inputs.
type IngestRecord struct {
	ID  string  `json:"id"`
	Key KeyText `json:"key"`
}

// inputKeys returns those of the inputs that rows of the commit were read or computed from.
func (c *Commit) inputKeys() iter.Seq[KeyText] {
	return func(yield func(KeyText) bool) {
		for _, in := range c.Inputs {
			if !yield(in.Key) {
				return
			}
		}
		for _, in := range c.Saw {
			if !yield(in.Key) {
				return
			}
		}
	}
}

// KeyText is a key, encoded as text because JSON readers round integers beyond 2^53.
type KeyText schema.Key

func (k KeyText) MarshalText() ([]byte, error) { return strconv.AppendInt(nil, int64(k), 10), nil }

func (k *KeyText) UnmarshalText(b []byte) error {
	n, err := strconv.ParseInt(string(b), 10, 64)
	*k = KeyText(n)
	return err
}

// TableRecord lists the files that a commit adds to a table. Columns are those of the files, "name TYPE", without the
// input column: a later version of the schema may have more.
type TableRecord struct {
	Name    string       `json:"name"`
	Columns []string     `json:"columns"`
	Files   []FileRecord `json:"files"`
	// of a result commit: no row has the key 0, so that readers need not look for such rows
	Keyed bool `json:"keyed,omitempty"`
}

// hidden returns those of some keys that rows of the table may have.
func (t *TableRecord) hidden(keys map[KeyText]bool) []schema.Key {
	out := sortedKeys(keys)
	if t.Keyed {
		out = slices.DeleteFunc(out, func(k schema.Key) bool { return k == 0 })
	}
	return out
}

// FileRecord is one Parquet file. Path is relative to the store and uses slashes.
type FileRecord struct {
	Path     string `json:"path"`
	Bytes    int64  `json:"bytes"`
	Rows     int64  `json:"rows"`
	Checksum string `json:"checksum"` // xxhash64 of the content, in hex
}

// Rows returns the number of rows by table.
func (c *Commit) Rows() map[string]int64 {
	rows := make(map[string]int64)
	for _, t := range c.Tables {
		for _, f := range t.Files {
			rows[t.Name] += f.Rows
		}
	}
	return rows
}

// Bytes returns the size of its files.
func (c *Commit) Bytes() int64 {
	n := int64(0)
	for _, t := range c.Tables {
		for _, f := range t.Files {
			n += f.Bytes
		}
	}
	return n
}

// encode writes the commit, whose last member is the checksum of the text before it.
func (c *Commit) encode() ([]byte, error) {
	bare := *c
	bare.Checksum = ""
	text, err := json.MarshalIndent(&bare, "", " ")
	if err != nil {
		return nil, err
	}
	c.Checksum = checksumText(xxhash.Sum64(text))
	return append(bytes.TrimSuffix(text, []byte(checksumSuffix(""))), checksumSuffix(c.Checksum)+"\n"...), nil
}

// adviceOnCommit returns what to do about a commit file that cannot be read.
func adviceOnCommit(err error) string {
	if errors.Is(err, ErrNewer) {
		return "install a version as new as the one that wrote it"
	}
	return "restore it from a copy of the store, or remove it and ingest its logs again"
}

// decodeCommit reads a commit file and checks it against its checksum and the rules for all commits.
func decodeCommit(data []byte, sequence int64) (*Commit, error) {
	c := new(Commit)
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err := dec.Decode(c)
	head := struct{ Format int }{c.Format}
	if err != nil { // commits of a newer straggler may have unknown members
		err = cmp.Or(json.Unmarshal(data, &head), err)
	}
	if head.Format > commitFormat {
		return nil, fmt.Errorf("%w: it has format %d and this straggler supports up to %d", ErrNewer, head.Format, commitFormat)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: not a whole commit: %w", ErrDamaged, err)
	}
	if !checksumMatches(data, c.Checksum) {
		return nil, fmt.Errorf("%w: its checksum is wrong", ErrDamaged)
	}
	if c.Sequence != sequence {
		return nil, fmt.Errorf("%w: it says sequence %d", ErrDamaged, c.Sequence)
	}
	for _, t := range c.Tables {
		for _, c := range t.Columns {
			if !columnText.MatchString(c) {
				return nil, fmt.Errorf("%w: it has a column %q", ErrDamaged, c)
			}
		}
		for _, f := range t.Files {
			if !tableName.MatchString(t.Name) || f.Path != path.Join("tables", t.Name, path.Base(f.Path)) || f.Path == path.Join("tables", t.Name) {
				return nil, fmt.Errorf("%w: it names a file outside its table: %q", ErrDamaged, f.Path)
			}
		}
	}
	return c, nil
}

// checksumText formats a checksum as commits have it.
func checksumText(sum uint64) string { return fmt.Sprintf("%016x", sum) }

// checksumMatches reports whether the content of a commit file matches the checksum at its end.
func checksumMatches(data []byte, checksum string) bool {
	text, ok := bytes.CutSuffix(data, []byte(checksumSuffix(checksum)+"\n"))
	if !ok {
		return false
	}
	h := xxhash.New()
	h.Write(text)
	h.WriteString(checksumSuffix(""))
	return checksum == checksumText(h.Sum64())
}

// Names and types from a commit are inserted into SQL, so they are checked.
var (
	tableName  = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)
	columnText = regexp.MustCompile(`^[a-z_][a-z0-9_]* [A-Z]+$`)
)

// checksumSuffix returns the end of a commit file.
func checksumSuffix(checksum string) string { return `"checksum": "` + checksum + "\"\n}" }

// commitSequence returns the sequence number of a commit's file.
func commitSequence(name string) (int64, bool) {
	digits, ok := strings.CutSuffix(path.Base(name), ".json")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil && n > 0 && name == commitName(n)
}

// commitName returns the file of a sequence number.
func commitName(sequence int64) string { return fmt.Sprintf("commits/%08d.json", sequence) }

// ingestID returns the id of a log commit: the same for the same inputs in any order.
func ingestID(inputs []InputRecord) string {
	sorted := slices.SortedFunc(slices.Values(inputs), func(a, b InputRecord) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	h := xxhash.New()
	for _, in := range sorted {
		fmt.Fprintf(h, "%d %q\n", in.Key, in.Fingerprint)
	}
	return checksumText(h.Sum64())
}

// contentID returns the id of a commit without inputs: the same for the same rows.
func contentID(c *Commit) string {
	h := xxhash.New()
	fmt.Fprintf(h, "%s %s\n", c.Kind, c.State)
	for _, k := range c.Kept {
		fmt.Fprintf(h, "+ %d %d\n", k.Sequence, k.Dropped)
	}
	for _, k := range c.Retired {
		fmt.Fprintf(h, "- %d\n", k)
	}
	for _, t := range c.Tables {
		for _, f := range t.Files {
			fmt.Fprintf(h, "%s %s\n", t.Name, f.Checksum)
		}
	}
	return checksumText(h.Sum64())
}
