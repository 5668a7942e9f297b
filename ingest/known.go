package ingest

import (
	"context"
	"encoding/json"
	"fmt"

	"straggler/schema"
	"straggler/store"
)

// remembered is what a commit keeps of an input beside what the store itself wants to know.
type remembered struct {
	Base  string `json:"base"`
	Head  int    `json:"head"`            // bytes that the key was made of
	Raw   int64  `json:"raw"`             // bytes of its files as they are; -1 unknown
	Files int    `json:"files"`           // that it consists of
	Codec string `json:"codec,omitempty"` // how its first file was compressed
	Error string `json:"error,omitempty"` // why it was not read to its end

	Format string `json:"format,omitempty"`
}

// known is what the store has already.
type known struct {
	byKey   map[schema.Key]*store.InputRecord
	byPrint map[string]*store.InputRecord
	byBase  map[string][]shorter
	named   map[string][]named // by base
	sizes   map[int64]bool     // raw sizes of inputs
}

// named is an input of a format that can write a log's beginning anew.
type named struct {
	key    schema.Key
	head   int
	format string
}

// shorter is an input whose key was made of less than 64 KiB: all that there was of it then.
type shorter struct {
	key  schema.Key
	head int
}

func load(ctx context.Context, st *store.Store) (*known, error) {
	inputs, err := st.Inputs(ctx)
	if err != nil {
		return nil, fmt.Errorf("ingest: what the store has already: %w", err)
	}
	k := &known{
		byKey:   make(map[schema.Key]*store.InputRecord),
		byPrint: make(map[string]*store.InputRecord),
		byBase:  make(map[string][]shorter),
		named:   make(map[string][]named),
		sizes:   make(map[int64]bool),
	}
	for i := range inputs {
		r := &inputs[i]
		k.byKey[schema.Key(r.Key)] = r
		k.byPrint[r.Fingerprint] = r
		m := recall(r)
		k.sizes[m.Raw] = true
		if m.Base != "" {
			k.named[m.Base] = append(k.named[m.Base], named{schema.Key(r.Key), m.Head, m.Format})
		}
		if m.Base != "" && m.Head > 0 && m.Head < HeadBytes {
			k.byBase[m.Base] = append(k.byBase[m.Base], shorter{schema.Key(r.Key), m.Head})
		}
	}
	return k, nil
}

// recall is what ingest remembered of an input; nothing when something else wrote the commit.
func recall(r *store.InputRecord) remembered {
	m := remembered{Raw: -1}
	if json.Unmarshal(r.Extra, &m) != nil {
		return remembered{Raw: -1}
	}
	return m
}

// key is the key of an input in this store, and the length of the head that it is made of: that of an input which was
// all there was of this log at an earlier time, or whose beginning was written anew since, or else the fresh one.
func (k *known) key(c *candidate, format string, head []byte, fresh schema.Key) (schema.Key, int) {
	if k == nil || k.byKey[fresh] != nil {
		return fresh, len(head)
	}
	for _, s := range k.byBase[c.base] {
		if s.head < len(head) && schema.InputKey(c.base, head[:s.head]) == s.key {
			return s.key, s.head
		}
	}
	if there := k.named[c.base]; c.rewritten && len(there) == 1 && there[0].format == format {
		return there[0].key, there[0].head
	}
	return fresh, len(head)
}

// suspect says that the store may have the input, so that hashing it before reading it is worth a read.
func (k *known) suspect(r *recognised) bool {
	return k.byKey[r.mine] != nil || k.sizes[r.size()]
}

// longer is the input in the store that is a later state of the same log, nil where there is none. A copy that was made
// while the log was written must not replace it. Groups of files may shrink when they are compacted.
func (k *known) longer(r *recognised) *store.InputRecord {
	old := k.byKey[r.mine]
	if old == nil || len(r.files) != 1 {
		return nil
	}
	if m := recall(old); m.Files == 1 && m.Codec == r.codec && m.Raw > r.size() {
		return old
	}
	return nil
}

// size is that of the files as they are; -1 unknown.
func (c *candidate) size() int64 {
	total := int64(0)
	for _, f := range c.files {
		if f.size < 0 {
			return -1
		}
		total += f.size
	}
	return total
}
