package baseline

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"straggler/audit/measure"
	"straggler/tempfile"
)

// Read reads a baseline; a file that does not exist is an empty one.
func Read(name string) (*Baseline, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return &Baseline{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, longestFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	case len(data) > longestFile:
		return nil, fmt.Errorf("%w: %s is larger than %d MB; audit with a smaller history", ErrUnreadable, name, longestFile>>20)
	}
	return Parse(name, data)
}

const (
	version      = 1
	longestLine  = 4 << 20
	longestFile  = 256 << 20
	mostBaseline = 100_000 // runs
)

// Parse reads the text of a baseline file; errors name the file and the line.
func Parse(name string, data []byte) (*Baseline, error) {
	p := parser{b: &Baseline{read: data}, runs: map[string]int{}}
	scan := bufio.NewScanner(bytes.NewReader(data))
	scan.Buffer(nil, longestLine)
	n, headed := 0, false
	bad := func(why string) error {
		return fmt.Errorf("%w: %s:%d: %s; restore it from version control, or start again with another file", ErrUnreadable, name, n, why)
	}
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
		if headed = headed || l.Version > 0; !headed {
			return nil, bad(noHeader)
		}
		if why := p.add(&l); why != "" {
			return nil, bad(why)
		}
	}
	if err := scan.Err(); err != nil {
		n++
		return nil, bad(err.Error())
	}
	if !headed && len(data) > 0 {
		n = max(n, 1)
		return nil, bad(noHeader)
	}
	p.addStages()
	p.b.sort()
	return p.b, nil
}

const noHeader = `the first line is not {"straggler_baseline":1}`

// parser collects the lines of a baseline file.
type parser struct {
	b      *Baseline
	runs   map[string]int // index of each run by key
	stages []stageLine
}

// add adds a line and returns why it cannot be used, "" if it can.
func (p *parser) add(l *line) (why string) {
	switch {
	case l.Version > 0:
	case l.Decision != nil:
		p.b.Decide(*l.Decision)
	case l.Open != nil:
		p.b.Reopen(*l.Open)
	case l.Run != nil:
		return p.addRun(l.Run)
	case l.Stage != nil:
		p.stages = append(p.stages, *l.Stage)
	default:
		return "it is not a run, stage, finding or decision"
	}
	return ""
}

// addRun adds a run, replacing an earlier one with the same key.
func (p *parser) addRun(r *measure.Run) (why string) {
	if r.Values == nil {
		r.Values = measure.Values{}
	}
	i, ok := p.runs[r.Key()]
	switch {
	case ok:
		p.b.Runs[i] = *r
	case len(p.b.Runs) == mostBaseline:
		return "too many runs"
	default:
		p.runs[r.Key()] = len(p.b.Runs)
		p.b.Runs = append(p.b.Runs, *r)
	}
	return ""
}

// addStages adds the stages to their runs. A stage without a run remains in a merged file when its run has been dropped from
// one of the two files.
func (p *parser) addStages() {
	for _, s := range p.stages {
		if i, ok := p.runs[(&measure.Run{Group: s.Group, Start: s.Start, ID: s.Run}).Key()]; ok {
			p.b.Runs[i].Stages = append(p.b.Runs[i].Stages, s.Stage)
		}
	}
}

// Save replaces the file atomically, unless it has changed since it was read. Of several processes that save the same file at
// once, one succeeds.
func (b *Baseline) Save(name string) (err error) {
	data, err := b.Bytes()
	if err != nil {
		return fmt.Errorf("audit: writing the baseline: %w", err)
	}
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	err = tempfile.Update(name, func(f *os.File) error {
		now, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if !bytes.Equal(now, b.read) {
			return fmt.Errorf("%w: %s; run the audit again", ErrChanged, name)
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Chmod(0o644), f.Sync())
	})
	if errors.Is(err, ErrChanged) {
		return err
	}
	if err != nil {
		return fmt.Errorf("audit: writing the baseline: %w", err)
	}
	b.read = data
	return nil
}

// Bytes returns the content of the file.
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

// line is a line of the file. Exactly one of its fields is set.
type line struct {
	Version  int          `json:"straggler_baseline,omitempty"`
	Decision *Decision    `json:"decision,omitempty"`
	Open     *Open        `json:"finding,omitempty"`
	Run      *measure.Run `json:"run,omitempty"`
	Stage    *stageLine   `json:"stage,omitempty"`
}

type stageLine struct {
	Group string `json:"group"`
	Start string `json:"start,omitempty"`
	Run   string `json:"run"`
	measure.Stage
}
