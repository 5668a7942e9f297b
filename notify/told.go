package notify

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Told is what was said of each finding last. The zero value keeps it in memory.
type Told struct {
	file    string
	kept    told
	changed bool // since it was read
}

// told is what the file holds.
type told struct {
	States      map[string]State  `json:"states"`      // of findings that were said to be open
	Undelivered map[string]Change `json:"undelivered"` // that were fixed, which no later night says again
}

// ErrTold is returned when the file of what was said cannot be used.
var ErrTold = errors.New("what was notified")

// maxTold bounds the file. Findings that are fixed leave it.
const maxTold = 64 << 20

// ReadTold reads what was said from a file, which need not exist yet.
func ReadTold(file string) (*Told, error) {
	t := &Told{file: file}
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
	if err := json.Unmarshal(text, &t.kept); err != nil {
		return nil, fmt.Errorf("%w: %s is no file of notified findings: %w; remove it, and open findings are said again", ErrTold, file, err)
	}
	return t, nil
}

// News are those of the findings whose state was not said yet, and those that were fixed earlier, of which a message was not
// delivered, by id. One that is fixed is news only where it was said to be open.
func (t *Told) News(now []Change) []Change {
	for _, c := range now {
		if _, ok := t.kept.Undelivered[c.ID]; ok && c.State == Open { // again
			delete(t.kept.Undelivered, c.ID)
			t.changed = true
		}
	}
	news := slices.DeleteFunc(slices.Clone(now), func(c Change) bool {
		said, ok := t.kept.States[c.ID]
		return ok && said == c.State || !ok && c.State == Fixed
	})
	for _, id := range slices.Sorted(maps.Keys(t.kept.Undelivered)) {
		if !slices.ContainsFunc(now, func(c Change) bool { return c.ID == id }) {
			news = append(news, t.kept.Undelivered[id])
		}
	}
	return news
}

// Said notes what was delivered, and writes it where there is a file.
func (t *Told) Said(news []Change) error {
	if t.kept.States == nil {
		t.kept.States = map[string]State{}
	}
	for _, c := range news {
		delete(t.kept.Undelivered, c.ID)
		if c.State == Fixed {
			delete(t.kept.States, c.ID)
		} else {
			t.kept.States[c.ID] = c.State
		}
	}
	t.changed = t.changed || len(news) > 0
	return t.write()
}

// Failed notes what was not delivered: the next audit says by itself what is still open, but not what was fixed.
func (t *Told) Failed(news []Change) error {
	if t.kept.Undelivered == nil {
		t.kept.Undelivered = map[string]Change{}
	}
	for _, c := range news {
		if c.State == Fixed {
			t.kept.Undelivered[c.ID], t.changed = c, true
		}
	}
	return t.write()
}

// write replaces the file, if there is one and something has changed.
func (t *Told) write() error {
	if t.file == "" || !t.changed {
		return nil
	}
	text, err := json.MarshalIndent(t.kept, "", " ") // in the order of the ids
	if err != nil {
		return fmt.Errorf("%w: %w", ErrTold, err)
	}
	temp := filepath.Join(filepath.Dir(t.file), "."+filepath.Base(t.file)+".new")
	if err := os.WriteFile(temp, append(text, '\n'), 0o666); err != nil {
		return fmt.Errorf("%w: %w", ErrTold, err)
	}
	return os.Rename(temp, t.file)
}
