package sqlplan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"straggler/schema"
)

// None is the position of no operator, and an unknown number.
const None = -1

// Node is an operator as Spark describes it (its class SparkPlanInfo).
type Node struct {
	Parent    int32 // position, None at the top
	Name      string
	Simple    string
	Location  string // of the metadata of a scan
	Partition string // its PartitionFilters
	Pushed    string // its PushedFilters
	Metrics   []Metric
}

// Metric is a metric that an operator declares.
type Metric struct {
	Name string
	Kind string
	ID   int64 // of the accumulator that counts it
}

// Tree is a plan with what follows from the positions of its operators. Slices are indexed by position, parents before
// children.
type Tree struct {
	Raw       []Node // without what Spark repeats below a reused exchange
	Nodes     []Operator
	bare      []Operator // the same without literals, where Nodes have them
	Children  [][]int32
	hashes    []uint64
	Tables    [][]string    // the sources of the scans below, in the order of the plan
	Sides     []schema.Side // of the nearest join above; "" without one
	Codegen   []int32       // the generated function that an operator is fused into; None where it is in None
	Fragments []int32       // operators with no exchange between them have the same
	Top       []int32       // the operator at the top of each fragment: an exchange, of what it writes
	Reuses    []int32       // of a reused exchange, the one that it reuses; None of any other
}

// maxTables bounds the sources that are listed for an operator.
const maxTables = 12

// Reader reads the plans of a query, caching their operators, most of which they have in common.
type Reader struct {
	keepLiterals bool
	known        map[texts]Operator // nil where none is remembered
}

// NewReader returns a reader that caches operators, with room for a number of them at first. With room 0, for a single plan, it
// caches none.
func NewReader(keepLiterals bool, room int) *Reader {
	r := &Reader{keepLiterals: keepLiterals}
	if room > 0 {
		r.known = make(map[texts]Operator, room)
	}
	return r
}

// texts are what an operator is read from.
type texts struct{ name, simple, location, partition, pushed string }

func (r *Reader) operator(n *Node) Operator {
	if r.known == nil {
		return operatorOf(n, r.keepLiterals)
	}
	key := texts{n.Name, n.Simple, n.Location, n.Partition, n.Pushed}
	o, ok := r.known[key]
	if !ok {
		o = operatorOf(n, r.keepLiterals)
		r.known[key] = o
	}
	return o
}

// Tree reads the operators of a plan, each after its parent.
func (r *Reader) Tree(raw []Node) *Tree {
	t := &Tree{Raw: raw, Nodes: make([]Operator, len(raw))}
	for i := range raw {
		t.Nodes[i] = r.operator(&raw[i])
	}
	t.resolveReuse()
	n := len(t.Nodes)
	t.Children, t.hashes, t.Tables = make([][]int32, n), make([]uint64, n), make([][]string, n)
	t.Sides, t.Codegen, t.Fragments = make([]schema.Side, n), make([]int32, n), make([]int32, n)
	t.findChildren()
	t.bare = t.Nodes
	if r.keepLiterals {
		t.bare = make([]Operator, n)
		for i := range t.Raw {
			t.bare[i] = operatorOf(&t.Raw[i], false)
		}
	}
	t.downwards()
	t.upwards()
	return t
}

// resolveReuse finds the original of each reused exchange, and removes the copy of its subtree: those operators ran once, and
// their metrics are those of the original.
func (t *Tree) resolveReuse() {
	t.Reuses = make([]int32, len(t.Nodes))
	below := make([]bool, len(t.Nodes)) // a reused exchange
	byPlanID := map[string]int32{}
	found := false
	for i := range t.Nodes {
		o, parent := &t.Nodes[i], t.Raw[i].Parent
		t.Reuses[i] = None
		found = found || o.Reuses
		below[i] = parent >= 0 && (below[parent] || t.Nodes[parent].Reuses)
		if _, taken := byPlanID[o.PlanID]; !taken && !below[i] && !o.Reuses && o.PlanID != "" && o.IsExchange() {
			byPlanID[o.PlanID] = int32(i)
		}
	}
	if !found {
		return
	}
	position := make([]int32, len(t.Nodes)) // of those that are kept
	var raw []Node
	nodes, reuses := t.Nodes[:0:0], t.Reuses[:0:0]
	for i, n := range t.Raw {
		position[i] = int32(len(nodes))
		if original, ok := byPlanID[t.Nodes[i].PlanID]; ok && t.Nodes[i].Reuses {
			t.Reuses[i] = original
		}
		if n.Parent >= 0 && (position[n.Parent] == None || t.Reuses[n.Parent] >= 0) {
			position[i] = None
			continue
		}
		if n.Parent >= 0 {
			n.Parent = position[n.Parent]
		}
		raw, nodes, reuses = append(raw, n), append(nodes, t.Nodes[i]), append(reuses, t.Reuses[i])
	}
	for i, original := range reuses {
		if original >= 0 {
			reuses[i] = position[original]
		}
	}
	t.Raw, t.Nodes, t.Reuses = raw, nodes, reuses
}

// findChildren lists the children of each operator, in one allocation.
func (t *Tree) findChildren() {
	count := make([]int32, len(t.Nodes))
	for i := range t.Raw {
		if parent := t.Raw[i].Parent; parent >= 0 {
			count[parent]++
		}
	}
	all := make([]int32, len(t.Nodes))
	for i, n := range count {
		t.Children[i], all = all[:0:n], all[n:]
	}
	for i := range t.Raw {
		if parent := t.Raw[i].Parent; parent >= 0 {
			t.Children[parent] = append(t.Children[parent], int32(i))
		}
	}
}

// downwards derives what follows for each operator from those above it.
func (t *Tree) downwards() {
	for i := range t.Nodes {
		o, parent := &t.Nodes[i], t.Raw[i].Parent
		t.Codegen[i] = o.Codegen
		if parent < 0 {
			t.Fragments[i] = t.newFragment(int32(i))
			continue
		}
		above := &t.Nodes[parent]
		t.Sides[i] = t.Sides[parent]
		if above.Kind == schema.JoinNode {
			t.Sides[i] = ""
			switch slices.Index(t.Children[parent], int32(i)) {
			case 0:
				t.Sides[i] = schema.LeftSide
			case 1:
				t.Sides[i] = schema.RightSide
			}
		}
		if t.Codegen[i] < 0 && o.Name != "InputAdapter" && above.Name != "InputAdapter" {
			t.Codegen[i] = t.Codegen[parent]
		}
		if above.IsExchange() || above.Name == cachedScan || o.isSubquery() {
			t.Fragments[i] = t.newFragment(parent)
			if o.isSubquery() {
				t.Top[t.Fragments[i]], t.Sides[i] = int32(i), ""
			}
		} else {
			t.Fragments[i] = t.Fragments[parent]
		}
	}
}

func (t *Tree) newFragment(top int32) int32 {
	t.Top = append(t.Top, top)
	return int32(len(t.Top) - 1)
}

// upwards derives what follows for each operator from those below it. Parents precede children.
func (t *Tree) upwards() {
	for i := len(t.Nodes) - 1; i >= 0; i-- {
		t.Tables[i] = t.sources(i)
		t.hashes[i] = t.hash(i)
	}
	reused := false
	for i, original := range t.Reuses {
		if original >= 0 {
			t.Tables[i], reused = t.Tables[original], true
		}
	}
	for i := len(t.Nodes) - 1; i >= 0 && reused; i-- { // those above reused exchanges
		if t.Reuses[i] < 0 {
			t.Tables[i] = t.sources(i)
		}
	}
}

// sources returns what an operator and those below it scan. The sources of a cached table are included only if it has no name.
// Rows of a subquery do not reach the operator that uses its value, nor a scan that it prunes, such as that of the target of a
// merge.
func (t *Tree) sources(i int) []string {
	if one := t.Children[i]; len(one) == 1 && t.Nodes[i].Source == "" && !t.Nodes[one[0]].isSubquery() {
		return t.Tables[one[0]]
	}
	var list []string
	if source := t.Nodes[i].Source; source != "" {
		list = append(list, source)
	}
	if t.Nodes[i].Name != cachedScan || len(list) == 0 {
		for _, c := range t.Children[i] {
			if !t.Nodes[c].isSubquery() {
				list = append(list, t.Tables[c]...)
			}
		}
	}
	return distinct(list)
}

// distinct returns the first distinct names of a list.
func distinct(list []string) []string {
	var kept []string
	for _, s := range list {
		if len(kept) < maxTables && !slices.Contains(kept, s) {
			kept = append(kept, s)
		}
	}
	return kept
}

// hash returns the hash of a subtree. Operators inserted by adaptive execution, and code generation, vary with data sizes from
// run to run, and are ignored.
func (t *Tree) hash(i int) uint64 {
	o := &t.bare[i]
	if (o.Kind == schema.WrapperNode || o.Kind == schema.ShuffleReadNode) && len(t.Children[i]) == 1 {
		return t.hashes[t.Children[i][0]]
	}
	h := xxhash.New()
	for _, s := range []string{o.Name, o.Detail, o.Keys, o.RightKeys, o.JoinType, string(o.Build), withoutDigits(o.Source)} {
		h.WriteString(s)
		h.Write([]byte{0})
	}
	for _, c := range t.Children[i] {
		h.WriteString(strconv.FormatUint(t.hashes[c], 16))
		h.Write([]byte{1})
	}
	return h.Sum64()
}

// Hash returns the hash of a subtree in hexadecimal: part of Fingerprint.
func (t *Tree) Hash(i int) string { return hex(t.hashes[i]) }

// Fingerprint returns a hash of the operators without what differs from run to run.
func (t *Tree) Fingerprint() string { return t.Hash(0) }

// Shape returns a hash of what the plan computes, regardless of how: the tables that it scans, the keys that it joins and groups
// by.
func (t *Tree) Shape() string {
	var parts []string
	for i := range t.bare {
		switch o := &t.bare[i]; o.Kind {
		case schema.ScanNode:
			parts = append(parts, "scan "+withoutDigits(o.Source))
		case schema.JoinNode:
			keys := []string{bareKeys(o.Keys), bareKeys(o.RightKeys)}
			slices.Sort(keys)
			parts = append(parts, "join "+strings.Join(keys, "="))
		case schema.AggregateNode:
			parts = append(parts, "group "+bareKeys(o.Keys))
		case schema.WindowNode:
			parts = append(parts, "window "+bareKeys(o.Keys))
		}
	}
	slices.Sort(parts)
	return hex(xxhash.Sum64String(strings.Join(slices.Compact(parts), "\n")))
}

// bareKeys returns the columns of keys without the casts and packing that some kinds of join require.
func bareKeys(keys string) string {
	var names []string
	for i := 0; i < len(keys); {
		if !isWord(keys[i]) {
			i++
			continue
		}
		end := i
		for end < len(keys) && isWord(keys[end]) {
			end++
		}
		if word := keys[i:end]; !(end < len(keys) && keys[end] == '(') && !planWords[strings.ToLower(word)] && !isDigit(word[0]) {
			names = append(names, word)
		}
		i = end
	}
	return strings.Join(names, ",")
}

// Adaptive reports whether the plan is changed while it runs, and whether it is the final one.
func (t *Tree) Adaptive() (adaptive, final bool) {
	for i := range t.Nodes {
		if t.Nodes[i].Name == "AdaptiveSparkPlan" {
			return true, strings.Contains(t.Raw[i].Simple, "isFinalPlan=true")
		}
	}
	return false, true
}

// withoutDigits replaces each number in a name by #, since they differ between the directories of two nights.
func withoutDigits(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if !isDigit(s[i]) {
			b.WriteByte(s[i])
		} else if i == 0 || !isDigit(s[i-1]) {
			b.WriteByte('#')
		}
	}
	return b.String()
}

func hex(h uint64) string {
	var digits [16]byte
	for i := range digits {
		digits[15-i] = "0123456789abcdef"[h>>(4*i)&15]
	}
	return string(digits[:])
}
