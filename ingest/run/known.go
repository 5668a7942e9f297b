package run

import (
	"context"
	"encoding/json"
	"fmt"

	"straggler/ingest"
	"straggler/ingest/discover"
	"straggler/schema"
	"straggler/store"
)

// inputMeta is what ingest records about an input in the commit, in addition to the store's own fields.
type inputMeta struct {
	Base  string `json:"base"`
	Head  int    `json:"head"`            // number of bytes that the key was made from
	Raw   int64  `json:"raw"`             // compressed bytes of its files; -1 unknown
	Files int    `json:"files"`           // number of its files
	Codec string `json:"codec,omitempty"` // how its first file was compressed
	Error string `json:"error,omitempty"` // why it was not read completely

	Format   string `json:"format,omitempty"`
	Unusable bool   `json:"unusable,omitempty"` // it had nothing but rejects

	Application string `json:"application,omitempty"` // see ingest.Format
}

// known is what the store already has.
type known struct {
	byKey   map[schema.Key]*store.InputRecord
	byPrint map[string]*store.InputRecord
	shorter map[string][]storeKey // by base, the inputs that were shorter than a head when their keys were made
	named   map[string][]named    // by base
	sizes   map[int64]bool        // raw sizes of inputs
	byApp   map[about][]*store.InputRecord
}

// about is an application as the inputs of a format identify it.
type about struct{ format, application string }

// named is an input of a format that may rewrite the beginning of a log.
type named struct {
	storeKey
	format string
}

func load(ctx context.Context, st *store.Store) (*known, error) {
	inputs, err := st.Inputs(ctx)
	if err != nil {
		return nil, fmt.Errorf("ingest: reading what the store has already: %w", err)
	}
	k := &known{
		byKey:   make(map[schema.Key]*store.InputRecord),
		byPrint: make(map[string]*store.InputRecord),
		shorter: make(map[string][]storeKey),
		named:   make(map[string][]named),
		sizes:   make(map[int64]bool),
		byApp:   make(map[about][]*store.InputRecord),
	}
	for i := range inputs {
		r := &inputs[i]
		k.byKey[schema.Key(r.Key)] = r
		k.byPrint[r.Fingerprint] = r
		m := decodeMeta(r)
		k.sizes[m.Raw] = true
		if m.Application != "" {
			app := about{m.Format, m.Application}
			k.byApp[app] = append(k.byApp[app], r)
		}
		if m.Base == "" {
			continue
		}
		key := storeKey{schema.Key(r.Key), m.Head}
		k.named[m.Base] = append(k.named[m.Base], named{key, m.Format})
		if m.Head > 0 && m.Head < ingest.HeadBytes {
			k.shorter[m.Base] = append(k.shorter[m.Base], key)
		}
	}
	return k, nil
}

// storeKey is the key of a log in the store.
type storeKey struct {
	key  schema.Key // a log keeps the key that it had when it was shorter
	head int        // number of bytes that the key was made from
}

// key returns the key of an input in this store: that of an earlier, shorter version of the log, or of a version with another
// beginning, if the store has one; otherwise its own.
func (k *known) key(in *discover.Input, head []byte) storeKey {
	own := storeKey{in.Key, len(head)}
	if k.byKey[own.key] != nil {
		return own
	}
	for _, s := range k.shorter[in.Base] {
		if s.head < len(head) && schema.InputKey(in.Base, head[:s.head]) == s.key {
			return s
		}
	}
	if there := k.named[in.Base]; in.Rewritten() && len(there) == 1 && there[0].format == in.Format.Name {
		return there[0].storeKey
	}
	return own
}

// suspect reports whether the store may already have the input, so that hashing it before reading it is worthwhile.
func (k *known) suspect(j *job) bool {
	return k.byKey[j.key] != nil || k.sizes[j.Size()]
}

// longer returns the input in the store that is a later version of the same log, or nil: it must not be replaced by a copy that
// was made while the log was being written. Groups of files may shrink when they are compacted.
func (k *known) longer(j *job) *store.InputRecord {
	old := k.byKey[j.key]
	if old == nil || len(j.Parts) != 1 {
		return nil
	}
	if m := decodeMeta(old); m.Files == 1 && m.Codec == j.Codec && m.Raw > j.Size() {
		return old
	}
	return nil
}

// decodeMeta returns what ingest recorded about an input; the zero value if something else wrote the commit.
func decodeMeta(r *store.InputRecord) inputMeta {
	m := inputMeta{Raw: -1}
	if json.Unmarshal(r.Extra, &m) != nil {
		return inputMeta{Raw: -1}
	}
	return m
}
