package audit

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

var (
	// ErrBaseline is the kind of errors about a baseline file that cannot be read.
	ErrBaseline = errors.New("unreadable baseline")
	// ErrChanged is the kind of errors about a baseline that somebody else wrote meanwhile.
	ErrChanged = errors.New("the baseline was changed meanwhile")
)

// Baseline is what is normal: the last runs of each group, what is wrong since when, and what was decided.
//
// Its file has one JSON object a line, sorted, so that a night adds lines and a review shows them: a header, then
// decisions, open findings, and runs each followed by its stages. Two files joined line by line (git's merge=union) are
// the union of both: lines about the same thing are one, the later counts.
type Baseline struct {
	Runs      []Run // in order
	Open      []Open
	Decisions []Decision

	read []byte // as it was
}

// Open is a finding that was there when the baseline was last updated.
type Open struct {
	ID      string `json:"id"`
	Group   string `json:"group"`
	Rule    string `json:"rule"`
	Subject string `json:"subject"`
	First   string `json:"first"` // start of the run that showed it first
	Last    string `json:"last"`
}

// Decision says that a finding is normal from a run on.
type Decision struct {
	ID      string `json:"id"`
	Subject string `json:"subject"`
	From    string `json:"from"` // start of the first run that counts as normal
	On      string `json:"on"`   // the day of the decision
	Reason  string `json:"reason,omitempty"`
}

// line is a line of the file: one of its fields is there.
type line struct {
	Version  int        `json:"straggler_baseline,omitempty"`
	Decision *Decision  `json:"decision,omitempty"`
	Open     *Open      `json:"finding,omitempty"`
	Run      *Run       `json:"run,omitempty"`
	Stage    *stageLine `json:"stage,omitempty"`
}

type stageLine struct {
	Group string `json:"group"`
	Start string `json:"start,omitempty"`
	Run   string `json:"run"`
	Stage
}

const (
	version      = 1
	longestLine  = 4 << 20
	longestFile  = 256 << 20
	mostBaseline = 100_000 // runs
)

// ReadBaseline reads a baseline; a file that does not exist is an empty one.
func ReadBaseline(name string) (*Baseline, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return &Baseline{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBaseline, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, longestFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrBaseline, err)
	case len(data) > longestFile:
		return nil, fmt.Errorf("%w: %s is larger than %d MB; audit with a smaller history", ErrBaseline, name, longestFile>>20)
	}
	return parseBaseline(name, data)
}

func parseBaseline(name string, data []byte) (*Baseline, error) {
	b := &Baseline{read: data}
	runs := map[string]int{}
	scan := bufio.NewScanner(bytes.NewReader(data))
	scan.Buffer(nil, longestLine)
	n, headed := 0, false
	bad := func(why string) error {
		return fmt.Errorf("%w: %s:%d: %s; restore it from version control, or begin anew with another file", ErrBaseline, name, n, why)
	}
	var stages []stageLine
	for scan.Scan() {
		n++
		text := bytes.TrimSpace(scan.Bytes())
		if len(text) == 0 {
			continue
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return nil, bad(err.Error())
		}
		if l.Version > version {
			return nil, bad(fmt.Sprintf("version %d of the file; this straggler reads %d", l.Version, version))
		}
		headed = headed || l.Version > 0
		switch {
		case !headed:
			return nil, bad(`the first line is not {"straggler_baseline":1}`)
		case l.Version > 0:
		case l.Decision != nil:
			b.decide(*l.Decision)
		case l.Open != nil:
			b.open(*l.Open)
		case l.Run != nil:
			if l.Run.Values == nil {
				l.Run.Values = Values{}
			}
			if i, ok := runs[l.Run.of()]; ok {
				b.Runs[i] = *l.Run
			} else if len(b.Runs) == mostBaseline {
				return nil, bad("too many runs")
			} else {
				runs[l.Run.of()] = len(b.Runs)
				b.Runs = append(b.Runs, *l.Run)
			}
		case l.Stage != nil:
			stages = append(stages, *l.Stage)
		default:
			return nil, bad("it is no run, stage, finding or decision")
		}
	}
	if err := scan.Err(); err != nil {
		n++
		return nil, bad(err.Error())
	}
	if !headed && len(data) > 0 {
		n = max(n, 1)
		return nil, bad(`the first line is not {"straggler_baseline":1}`)
	}
	for _, s := range stages { // a stage without its run is what a trimmed run left in a union
		if i, ok := runs[(&Run{Group: s.Group, Start: s.Start, ID: s.Run}).of()]; ok {
			b.Runs[i].Stages = append(b.Runs[i].Stages, s.Stage)
		}
	}
	b.sort()
	return b, nil
}

// of identifies a run in the file.
func (r *Run) of() string { return r.Group + "\x00" + r.Start + "\x00" + r.ID }

func (b *Baseline) sort() {
	slices.SortStableFunc(b.Decisions, func(x, y Decision) int { return cmp.Compare(x.ID, y.ID) })
	slices.SortStableFunc(b.Open, func(x, y Open) int {
		return cmp.Or(cmp.Compare(x.Group, y.Group), cmp.Compare(x.ID, y.ID))
	})
	slices.SortStableFunc(b.Runs, func(x, y Run) int {
		if before(&x, &y) {
			return -1
		}
		if before(&y, &x) {
			return 1
		}
		return 0
	})
	for i := range b.Runs {
		s := b.Runs[i].Stages
		slices.SortStableFunc(s, func(x, y Stage) int {
			if x.Signature.less(y.Signature) {
				return -1
			}
			if y.Signature.less(x.Signature) {
				return 1
			}
			return 0
		})
		b.Runs[i].Stages = slices.CompactFunc(s, func(x, y Stage) bool { return x.Signature == y.Signature })
	}
}

func (b *Baseline) decide(d Decision) {
	if i := slices.IndexFunc(b.Decisions, func(x Decision) bool { return x.ID == d.ID }); i >= 0 {
		if d.From >= b.Decisions[i].From {
			b.Decisions[i] = d
		}
		return
	}
	b.Decisions = append(b.Decisions, d)
}

func (b *Baseline) open(o Open) {
	if i := slices.IndexFunc(b.Open, func(x Open) bool { return x.ID == o.ID }); i >= 0 {
		was := &b.Open[i]
		was.First, was.Last = min(was.First, o.First), max(was.Last, o.Last)
		return
	}
	b.Open = append(b.Open, o)
}

// Add puts a run into its group and lets go of the oldest beyond the number kept.
func (b *Baseline) Add(r Run, keep int) {
	b.Runs = slices.DeleteFunc(b.Runs, func(x Run) bool { return x.of() == r.of() })
	b.Runs = append(b.Runs, r)
	b.sort()
	n := 0
	for i := len(b.Runs) - 1; i >= 0; i-- {
		if b.Runs[i].Group != r.Group {
			continue
		}
		if n++; n > keep {
			b.Runs = slices.Delete(b.Runs, i, i+1)
		}
	}
}

// Bytes is the file.
func (b *Baseline) Bytes() ([]byte, error) {
	b.sort()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	write := func(l line) error { return enc.Encode(l) }
	err := write(line{Version: version})
	for i := range b.Decisions {
		err = errors.Join(err, write(line{Decision: &b.Decisions[i]}))
	}
	for i := range b.Open {
		err = errors.Join(err, write(line{Open: &b.Open[i]}))
	}
	for i := range b.Runs {
		r := &b.Runs[i]
		err = errors.Join(err, write(line{Run: r}))
		for k := range r.Stages {
			err = errors.Join(err, write(line{Stage: &stageLine{r.Group, r.Start, r.ID, r.Stages[k]}}))
		}
	}
	return out.Bytes(), err
}

// Save replaces the file by this baseline, all of it or nothing, unless the file is not as it was read.
func (b *Baseline) Save(name string) (err error) {
	data, err := b.Bytes()
	if err != nil {
		return fmt.Errorf("audit: writing the baseline: %w", err)
	}
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	now, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("audit: %w", err)
	}
	if !bytes.Equal(now, b.read) {
		return fmt.Errorf("%w: %s; run the audit again", ErrChanged, name)
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return fmt.Errorf("audit: writing the baseline: %w", err)
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
			err = fmt.Errorf("audit: writing the baseline: %w", err)
		}
	}()
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), name); err != nil {
		return err
	}
	b.read = data
	return nil
}

// finite says that a baseline that somebody edited holds numbers that can be counted with.
func (v Values) finite() bool {
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) || math.Abs(x) > 1e18 {
			return false
		}
	}
	return true
}

// oneLine is a text that cannot begin a line of its own.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
