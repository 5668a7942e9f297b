package store

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"

	"straggler/schema"
)

// Results need not be computed from the whole store each time. A result commit records the inputs that it used (Saw), and each
// of its rows has the key of the input that it is computed from, like the rows of logs. A later commit of the same kind keeps
// the results that are current (Resume), drops the rows of inputs that have changed or been removed, and adds its own rows for
// what is new.

// DependsOn sets what the transaction's results of each input depend on besides its rows, such as results of another kind. It
// must be called before Resume. A change of it counts as a change of the input. Inputs that it does not name are not processed
// yet, and none of their results are kept.
func (tx *Tx) DependsOn(from map[schema.Key]string) { tx.dependsOn = from }

// Resume keeps the visible results of the transaction's kind for unchanged inputs, if the same version of straggler computed
// them, and returns the other inputs, which must be processed. Results computed from several inputs, which have the key of
// none, are dropped. With again nothing is kept, and all inputs must be processed. ok is false if the store has log rows that
// belong to no input; then nothing is kept, and a commit replaces all earlier results, as it does without Resume.
func (tx *Tx) Resume(again bool) (todo []InputRecord, ok bool) {
	cat := tx.cat
	for i, c := range cat.commits {
		if cat.visible[i] && c.Kind == Log && len(c.Inputs) == 0 {
			return nil, false
		}
	}
	now := tx.states()
	current := make(map[KeyText]bool)
	tx.unchanged, tx.stale = false, false
	for i, c := range cat.commits {
		if !cat.visible[i] || c.Kind != tx.origin.Kind || c.Tool != tx.origin.Tool || c.Columns != resultColumns() || again {
			continue
		}
		k := KeptRecord{Sequence: c.Sequence}
		currentHere := cat.current(i, now)
		for _, in := range c.Saw {
			if currentHere[in.Key] {
				current[in.Key] = true
				continue
			}
			k.Dropped = append(k.Dropped, in.Key)
			tx.stale = tx.stale || !cat.hidden[i][in.Key]
		}
		tx.unchanged = c.State == tx.state // the state of the last one counts
		if len(k.Dropped) < len(c.Saw) {
			k.Dropped = append(k.Dropped, 0)
			slices.Sort(k.Dropped)
			tx.kept = append(tx.kept, k)
		}
	}
	for in := range cat.inputs {
		switch {
		case current[in.Key]:
			tx.keptInputs = append(tx.keptInputs, in)
		case now[in.Key] != "":
			todo = append(todo, in)
		}
	}
	tx.unchanged = tx.unchanged && len(todo) == 0 && !tx.stale
	return todo, true
}

// Resumed reports whether some earlier results are kept.
func (tx *Tx) Resumed() bool { return len(tx.kept) > 0 }

// Kept returns the inputs whose results are kept.
func (tx *Tx) Kept() []InputRecord { return tx.keptInputs }

// Unchanged reports whether, after Resume, there is nothing to commit because the visible results are current.
func (tx *Tx) Unchanged() bool { return tx.unchanged }

// Stale reports whether there are visible results of inputs that have since changed or been removed. Their rows are visible
// until the transaction commits.
func (tx *Tx) Stale() bool { return tx.stale }

// Replaces reports whether there are visible results of the transaction's kind, none of which are kept.
func (tx *Tx) Replaces() bool {
	return len(tx.kept) == 0 && len(tx.cat.visibleOf(tx.origin.Kind)) > 0
}

// Saw records an input that the transaction's results are computed from. They are appended under its key, each row under that
// of the one input that it is computed from. Results computed from several inputs have no key and are recomputed each time; or
// they have the key of the input that they are about, and their writer determines when they are no longer current, and calls
// Drop.
func (tx *Tx) Saw(in InputRecord) {
	tx.saw = append(tx.saw, InputState{in.Key, tx.stateOf(in)})
}

// Drop stops keeping the results of some inputs. The transaction must append all of their results.
func (tx *Tx) Drop(inputs []InputRecord) {
	again := make(map[KeyText]bool)
	for _, in := range inputs {
		again[in.Key] = true
		tx.Saw(in)
	}
	for i := range tx.kept {
		k := &tx.kept[i]
		for _, c := range tx.cat.commits {
			if c.Sequence != k.Sequence {
				continue
			}
			for _, in := range c.Saw {
				if again[in.Key] {
					k.Dropped = append(k.Dropped, in.Key)
				}
			}
		}
		slices.Sort(k.Dropped)
		k.Dropped = slices.Compact(k.Dropped)
	}
}

// DropAll stops keeping any results.
func (tx *Tx) DropAll() { tx.kept, tx.saw, tx.keptInputs = nil, nil, nil }

// Partial marks the results as covering only some of the logs: the other inputs remain to be processed.
func (tx *Tx) Partial() { tx.state = "" }

// Current returns the inputs whose visible results of a kind are current, with the version of straggler that computed them.
func (tx *Tx) Current(k Kind) map[schema.Key]string {
	now, out := make(map[KeyText]string), make(map[schema.Key]string)
	for in := range tx.cat.inputs {
		now[in.Key] = stateOf(in)
	}
	for i, c := range tx.cat.commits {
		if tx.cat.visible[i] && c.Kind == k {
			for key := range tx.cat.current(i, now) {
				out[schema.Key(key)] = c.Tool
			}
		}
	}
	return out
}

// current returns the inputs whose rows in a visible result commit are current, given the present states.
func (cat *catalog) current(i int, now map[KeyText]string) map[KeyText]bool {
	out := make(map[KeyText]bool)
	for in := range cat.seen(i) {
		if now[in.Key] != "" && now[in.Key] == in.State {
			out[in.Key] = true
		}
	}
	return out
}

// seen returns the inputs, in the states that were seen, of which a visible result commit has rows that are still visible.
func (cat *catalog) seen(i int) iter.Seq[InputState] {
	return func(yield func(InputState) bool) {
		again := cat.retiredSince(cat.commits[i].Sequence)
		for _, in := range cat.commits[i].Saw {
			if !again[in.Key] && !cat.hidden[i][in.Key] && !yield(in) {
				return
			}
		}
	}
}

// states returns those of the visible inputs, as the transaction's results see them, except inputs that are not to be processed
// yet.
func (tx *Tx) states() map[KeyText]string {
	out := make(map[KeyText]string)
	for in := range tx.cat.inputs {
		if _, ok := tx.dependsOn[schema.Key(in.Key)]; ok || tx.dependsOn == nil {
			out[in.Key] = tx.stateOf(in)
		}
	}
	return out
}

// stateOf returns what the transaction's results of an input depend on.
func (tx *Tx) stateOf(in InputRecord) string {
	if tx.dependsOn == nil {
		return stateOf(in)
	}
	return checksumText(xxhash.Sum64String(stateOf(in) + " " + tx.dependsOn[schema.Key(in.Key)]))
}

// stateOf returns what an input's rows depend on: other content, or the same content read differently, is another state.
func stateOf(in InputRecord) string {
	rows, _ := json.Marshal(in.Rows) // a map's keys are sorted
	return checksumText(xxhash.Sum64String(fmt.Sprintf("%q %q %s %s", in.Fingerprint, in.Format, rows, in.Extra)))
}

// resultColumns is a digest of the columns of all result tables. Results computed by another version of straggler, whose tables
// have other columns, are neither kept nor compacted: they are computed again.
var resultColumns = sync.OnceValue(func() string {
	var columns strings.Builder
	for _, t := range schema.Tables() {
		if t.Result {
			for _, c := range t.Columns {
				fmt.Fprintln(&columns, t.Name, c.Name, c.Type, c.Nullable)
			}
		}
	}
	return checksumText(xxhash.Sum64String(columns.String()))
})

// visibleOf returns the visible commits of a kind.
func (cat *catalog) visibleOf(k Kind) (out []*Commit) {
	for i, c := range cat.commits {
		if cat.visible[i] && c.Kind == k {
			out = append(out, c)
		}
	}
	return out
}

// resultHas reports whether one of the visible commits of a kind of result has an id: together they are one result.
func (cat *catalog) resultHas(k Kind, id string) bool {
	return slices.ContainsFunc(cat.visibleOf(k), func(c *Commit) bool { return c.ID == id })
}

// retiredSince returns the inputs that commits after the given one have retired: their present contents were read again,
// whatever their state.
func (cat *catalog) retiredSince(sequence int64) map[KeyText]bool {
	out := make(map[KeyText]bool)
	for _, c := range cat.commits {
		if c.Sequence > sequence {
			for _, k := range c.Retired {
				out[k] = true
			}
		}
	}
	return out
}

// markChanged clears the state of inputs that were retired while the results of a new commit were computed, since the
// transaction began, so that the next results of its kind process them again.
func (cat *catalog) markChanged(c *Commit, began int64) {
	again := cat.retiredSince(began - 1)
	for i := range c.Saw {
		if again[c.Saw[i].Key] {
			c.Saw[i].State = ""
		}
	}
}

// markedAgain returns the state in which a result commit saw an input, without the state if the input has been retired since.
func (cat *catalog) markedAgain(in InputState, sequence int64) InputState {
	if cat.retiredSince(sequence)[in.Key] {
		in.State = ""
	}
	return in
}

// checkKept checks that what a new result commit keeps is unchanged, and that a compaction of results includes all of them.
func (cat *catalog) checkKept(c *Commit, replaced map[int64]bool) error {
	kept := make(map[int64]bool)
	for _, k := range c.Kept {
		kept[k.Sequence] = true
		i := slices.IndexFunc(cat.commits, func(c *Commit) bool { return c.Sequence == k.Sequence })
		if i < 0 || !cat.visible[i] {
			return fmt.Errorf("store: %w: results of commit %d have gone; try again", ErrConflict, k.Sequence)
		}
		dropped := keySet(k.Dropped)
		for key := range cat.hidden[i] {
			if !dropped[key] {
				return fmt.Errorf("store: %w: results of commit %d are not what they were; try again", ErrConflict, k.Sequence)
			}
		}
	}
	if !c.Kind.result() || len(replaced) == 0 {
		return nil
	}
	for _, other := range cat.visibleOf(c.Kind) {
		if !kept[other.Sequence] && !replaced[other.Sequence] {
			return fmt.Errorf("store: %w: commit %d has other results; try again", ErrConflict, other.Sequence)
		}
	}
	return nil
}

// Owners finds the input that a key was allocated for, among the given inputs, each of which allocates blocks of keys for
// itself.
type Owners map[block]schema.Key

// OwnersOf returns the owners of the keys of some inputs' rows.
func OwnersOf(inputs []InputRecord) Owners {
	out := make(Owners)
	for i := range inputs {
		for b := range inputs[i].blocks {
			out[b] = schema.Key(inputs[i].Key)
		}
	}
	return out
}

// Blocks returns the first keys of the blocks of a table, in order.
func (o Owners) Blocks(table string) (out []schema.Key) {
	for b := range o {
		if b.table == table {
			out = append(out, b.first)
		}
	}
	slices.Sort(out)
	return out
}

// Of returns the input that a key of a table belongs to.
func (o Owners) Of(table string, key schema.Key) (input schema.Key, ok bool) {
	input, ok = o[block{table, key &^ (schema.BlockKeys - 1)}]
	return input, ok
}
