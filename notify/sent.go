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

// Sent records the state in which each finding was last sent. The zero value keeps it in memory.
type Sent struct {
	file    string
	kept    sentFile
	changed bool // since it was read
}

// sentFile is the content of the file.
type sentFile struct {
	States      map[string]State  `json:"states"`      // of findings that were sent as open
	Undelivered map[string]Change `json:"undelivered"` // fixed findings, which no later night sends again
}

// ErrSent is returned if the file of sent findings cannot be used.
var ErrSent = errors.New("what was notified")

// maxSent bounds the file. Fixed findings are removed from it.
const maxSent = 64 << 20

// ReadSent reads the record from a file, which need not exist yet.
func ReadSent(file string) (*Sent, error) {
	t := &Sent{file: file}
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil || info.Size() > maxSent {
		return nil, fmt.Errorf("%w: %s cannot be read, or is too large to be ours: %v", ErrSent, file, err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSent, err)
	}
	if err := json.Unmarshal(text, &t.kept); err != nil {
		return nil, fmt.Errorf("%w: %s is not a file of notified findings: %w; remove it, and open findings are sent again", ErrSent, file, err)
	}
	return t, nil
}

// Unsent returns the findings whose state has not been sent yet, and those that were fixed earlier and whose message was not
// delivered, by id. A fixed one counts only if it was sent as open.
func (t *Sent) Unsent(now []Change) []Change {
	for _, c := range now {
		if _, ok := t.kept.Undelivered[c.ID]; ok && c.State == Open { // opened again
			delete(t.kept.Undelivered, c.ID)
			t.changed = true
		}
	}
	news := slices.DeleteFunc(slices.Clone(now), func(c Change) bool {
		sent, ok := t.kept.States[c.ID]
		return ok && sent == c.State || !ok && c.State == Fixed
	})
	for _, id := range slices.Sorted(maps.Keys(t.kept.Undelivered)) {
		if !slices.ContainsFunc(now, func(c Change) bool { return c.ID == id }) {
			news = append(news, t.kept.Undelivered[id])
		}
	}
	return news
}

// Delivered records what was delivered, and writes it if there is a file.
func (t *Sent) Delivered(news []Change) error {
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

// Failed records what was not delivered: the next audit reports open findings again by itself, but not fixed ones.
func (t *Sent) Failed(news []Change) error {
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
func (t *Sent) write() error {
	if t.file == "" || !t.changed {
		return nil
	}
	text, err := json.MarshalIndent(t.kept, "", " ") // sorted by id
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSent, err)
	}
	temp := filepath.Join(filepath.Dir(t.file), "."+filepath.Base(t.file)+".new")
	if err := os.WriteFile(temp, append(text, '\n'), 0o666); err != nil {
		return fmt.Errorf("%w: %w", ErrSent, err)
	}
	return os.Rename(temp, t.file)
}
