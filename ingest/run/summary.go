package run

import (
	"cmp"
	"maps"
	"slices"

	"straggler/ingest/discover"
	"straggler/store"
)

// Status is the outcome of an input.
type Status string

const (
	Read          Status = "read"           // all of it is in the store
	Partial       Status = "read in part"   // it could not be read to its end; what came before is in the store
	AlreadyThere  Status = "already there"  // the store had it
	Duplicate     Status = "duplicate"      // another input of the run is the same log
	OtherShard    Status = "other shard"    // another run reads it
	NotRecognised Status = "not recognised" // no format recognises it
	Planned       Status = "planned"        // it will be read by this run
	Waiting       Status = "waiting"        // a later round of a follower reads it
	Failed        Status = "failed"         // nothing of it could be read
)

// Result is the outcome of one input.
type Result struct {
	Name    string
	Status  Status
	Reason  string // why, if the status needs a reason
	Err     error  // of Failed and Partial, checkable by kind
	Format  string
	Why     string           // the sign by which its format was recognised
	Files   int              // number of its files
	Changed int64            // when the last of them changed, in ns since 1970; 0 unknown
	Bytes   int64            // of its files, compressed
	Content int64            // decompressed bytes
	Decoded int64            // records used, or skipped on purpose
	Rejects int64            // records that could not be used
	Rows    map[string]int64 // by table
	Grown   bool             // it replaces an earlier version of the same log in the store
}

func skipped(s discover.Skipped) Result {
	if s.Err != nil {
		return failed(s.Name, s.Err)
	}
	return Result{Name: s.Name, Status: NotRecognised, Reason: s.Reason}
}

func failed(name string, err error) Result {
	return Result{Name: name, Status: Failed, Reason: err.Error(), Err: err}
}

// stored reports whether the run stores rows of the input. They are only rejects if it failed because no record was usable.
func (r *Result) stored() bool {
	return r.Status == Read || r.Status == Partial || r.Status == Failed && len(r.Rows) > 0
}

// Summary is the outcome of a run.
type Summary struct {
	Results []Result // by name
	Commit  *store.Commit
	Files   int64
	Bytes   int64 // raw bytes of the inputs that were read
	Content int64
	Decoded int64
	Rejects int64
	Rows    map[string]int64
	Seconds float64
}

// Count returns the number of inputs with a status.
func (s *Summary) Count(status Status) int {
	n := 0
	for i := range s.Results {
		if s.Results[i].Status == status {
			n++
		}
	}
	return n
}

// Unread returns the inputs that could not be read, or only in part.
func (s *Summary) Unread() []Result {
	var out []Result
	for _, r := range s.Results {
		if r.Status == Failed || r.Status == Partial {
			out = append(out, r)
		}
	}
	return out
}

// total sorts the results and adds up those that were read.
func (s *Summary) total() {
	slices.SortStableFunc(s.Results, func(a, b Result) int { return cmp.Compare(a.Name, b.Name) })
	s.Rows = make(map[string]int64)
	s.Files, s.Bytes, s.Content, s.Decoded, s.Rejects = 0, 0, 0, 0, 0
	for _, r := range s.Results {
		if !r.stored() {
			continue
		}
		s.Files += int64(r.Files)
		s.Bytes += r.Bytes
		s.Content += r.Content
		s.Decoded += r.Decoded
		s.Rejects += r.Rejects
		for table, n := range r.Rows {
			s.Rows[table] += n
		}
	}
}

// Formats returns the names of the formats that were read, sorted.
func (s *Summary) Formats() []string {
	names := make(map[string]bool)
	for _, r := range s.Results {
		if r.stored() {
			names[r.Format] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
