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
	b := &Baseline{read: data}
	runs := map[string]int{}
	scan := bufio.NewScanner(bytes.NewReader(data))
	scan.Buffer(nil, longestLine)
	n, headed := 0, false
	bad := func(why string) error {
		return fmt.Errorf("%w: %s:%d: %s; restore it from version control, or begin anew with another file", ErrUnreadable, name, n, why)
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
			b.Decide(*l.Decision)
		case l.Open != nil:
			b.Reopen(*l.Open)
		case l.Run != nil:
			if l.Run.Values == nil {
				l.Run.Values = measure.Values{}
			}
			if i, ok := runs[l.Run.Key()]; ok {
				b.Runs[i] = *l.Run
			} else if len(b.Runs) == mostBaseline {
				return nil, bad("too many runs")
			} else {
				runs[l.Run.Key()] = len(b.Runs)
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
		if i, ok := runs[(&measure.Run{Group: s.Group, Start: s.Start, ID: s.Run}).Key()]; ok {
			b.Runs[i].Stages = append(b.Runs[i].Stages, s.Stage)
		}
	}
	b.sort()
	return b, nil
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

// line is a line of the file: one of its fields is there.
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
