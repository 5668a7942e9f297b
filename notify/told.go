package notify

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Told is what was said of each finding last. The zero value keeps it in memory.
type Told struct {
	file   string
	states map[string]State
}

// ErrTold is returned when the file of what was said cannot be used.
var ErrTold = errors.New("what was notified")

// maxTold bounds the file. Findings that are fixed leave it.
const maxTold = 64 << 20

// ReadTold reads what was said from a file, which need not exist yet.
func ReadTold(file string) (*Told, error) {
	t := &Told{file: file, states: map[string]State{}}
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil || info.Size() > maxTold {
		return nil, fmt.Errorf("%w: %s cannot be read, or is too large to be ours: %v", ErrTold, file, err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTold, err)
	}
	if err := json.Unmarshal(text, &t.states); err != nil {
		return nil, fmt.Errorf("%w: %s is no file of notified findings: %w; remove it, and open findings are said again", ErrTold, file, err)
	}
	if t.states == nil {
		t.states = map[string]State{}
	}
	return t, nil
}

// News are those of the findings whose state was not said yet. One that is fixed is news only where it was said to be open.
func (t *Told) News(now []Change) []Change {
	return slices.DeleteFunc(slices.Clone(now), func(c Change) bool {
		said, ok := t.states[c.ID]
		return ok && said == c.State || !ok && c.State == Fixed
	})
}

// Said notes what was delivered, and writes it where there is a file.
func (t *Told) Said(news []Change) error {
	if t.states == nil {
		t.states = map[string]State{}
	}
	for _, c := range news {
		if c.State == Fixed {
			delete(t.states, c.ID)
		} else {
			t.states[c.ID] = c.State
		}
	}
	if t.file == "" || len(news) == 0 {
		return nil
	}
	text, err := json.MarshalIndent(t.states, "", " ") // in the order of the ids
	if err != nil {
		return fmt.Errorf("%w: %w", ErrTold, err)
	}
	temp := filepath.Join(filepath.Dir(t.file), "."+filepath.Base(t.file)+".new")
	if err := os.WriteFile(temp, append(text, '\n'), 0o666); err != nil {
		return fmt.Errorf("%w: %w", ErrTold, err)
	}
	return os.Rename(temp, t.file)
}
