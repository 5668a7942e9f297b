package spark

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"straggler/schema"
)

// planTree is a plan with what follows from the place of its operators in it.
type planTree struct {
	raw       *plan
	nodes     []operator
	bare      []operator // the same without literals, where nodes have them
	children  [][]int32
	hashes    []uint64
	tables    [][]string    // the sources of the scans below, in the order of the plan
	sides     []schema.Side // of the nearest join above; "" without one
	codegen   []int32       // the generated function that an operator is fused into; none where it is in none
	fragments []int32       // operators with no exchange between them have the same
	top       []int32       // the operator at the top of each fragment: an exchange, of what it writes
	reuses    []int32       // of a reused exchange, the one that it reuses; none of any other
}

// maxTables bounds the sources that are listed for an operator.
const maxTables = 12

// operators reads the operators of a query, whose plans have most of them in common.
type operators struct {
	keepLiterals bool
	known        map[operatorTexts]operator // nil where there is one plan
}

// operatorTexts are what an operator is read from.
type operatorTexts struct{ name, simple, location, partition, pushed string }

func (o *operators) of(n *rawNode) operator {
	if o.known == nil {
		return operatorOf(n, o.keepLiterals)
	}
	texts := operatorTexts{n.name, n.simple, n.location, n.partition, n.pushed}
	known, ok := o.known[texts]
	if !ok {
		known = operatorOf(n, o.keepLiterals)
		o.known[texts] = known
	}
	return known
}

func newPlanTree(p *plan, known *operators) *planTree {
	t := &planTree{raw: p, nodes: make([]operator, len(p.nodes))}
	for i := range p.nodes {
		t.nodes[i] = known.of(&p.nodes[i])
	}
	t.resolveReuse()
	n := len(t.nodes)
	t.children, t.hashes, t.tables = make([][]int32, n), make([]uint64, n), make([][]string, n)
	t.sides, t.codegen, t.fragments = make([]schema.Side, n), make([]int32, n), make([]int32, n)
	t.findChildren()
	t.bare = t.nodes
	if known.keepLiterals {
		t.bare = make([]operator, n)
		for i := range t.raw.nodes {
			t.bare[i] = operatorOf(&t.raw.nodes[i], false)
		}
	}
	t.downwards()
	t.upwards()
	return t
}

// resolveReuse finds the exchange that each reused one reads again, and leaves out what Spark repeats of it below: those operators ran
// once, and their metrics are those of the original.
func (t *planTree) resolveReuse() {
	t.reuses = make([]int32, len(t.nodes))
	below := make([]bool, len(t.nodes)) // a reused exchange
	byPlanID := map[string]int32{}
	found := false
	for i := range t.nodes {
		o, parent := &t.nodes[i], t.raw.nodes[i].parent
		t.reuses[i] = none
		found = found || o.reuses
		below[i] = parent >= 0 && (below[parent] || t.nodes[parent].reuses)
		if _, taken := byPlanID[o.planID]; !taken && !below[i] && !o.reuses && o.planID != "" && o.isExchange() {
			byPlanID[o.planID] = int32(i)
		}
	}
	if !found {
		return
	}
	position := make([]int32, len(t.nodes)) // of those that are kept
	kept, nodes, reuses := *t.raw, t.nodes[:0:0], t.reuses[:0:0]
	kept.nodes = nil
	for i, n := range t.raw.nodes {
		position[i] = int32(len(nodes))
		if original, ok := byPlanID[t.nodes[i].planID]; ok && t.nodes[i].reuses {
			t.reuses[i] = original
		}
		if n.parent >= 0 && (position[n.parent] == none || t.reuses[n.parent] >= 0) {
			position[i] = none
			continue
		}
		if n.parent >= 0 {
			n.parent = position[n.parent]
		}
		kept.nodes, nodes, reuses = append(kept.nodes, n), append(nodes, t.nodes[i]), append(reuses, t.reuses[i])
	}
	for i, original := range reuses {
		if original >= 0 {
			reuses[i] = position[original]
		}
	}
	t.raw, t.nodes, t.reuses = &kept, nodes, reuses
}

// findChildren lists the operators below each, all lists in one piece.
func (t *planTree) findChildren() {
	count := make([]int32, len(t.nodes))
	for i := range t.raw.nodes {
		if parent := t.raw.nodes[i].parent; parent >= 0 {
			count[parent]++
		}
	}
	all := make([]int32, len(t.nodes))
	for i, n := range count {
		t.children[i], all = all[:0:n], all[n:]
	}
	for i := range t.raw.nodes {
		if parent := t.raw.nodes[i].parent; parent >= 0 {
			t.children[parent] = append(t.children[parent], int32(i))
		}
	}
}

// downwards gives each operator what follows from those above it.
func (t *planTree) downwards() {
	for i := range t.nodes {
		o, parent := &t.nodes[i], t.raw.nodes[i].parent
		t.codegen[i] = o.codegen
		if parent < 0 {
			t.fragments[i] = t.newFragment(int32(i))
			continue
		}
		above := &t.nodes[parent]
		t.sides[i] = t.sides[parent]
		if above.kind == schema.JoinNode {
			t.sides[i] = ""
			switch slices.Index(t.children[parent], int32(i)) {
			case 0:
				t.sides[i] = schema.LeftSide
			case 1:
				t.sides[i] = schema.RightSide
			}
		}
		if t.codegen[i] < 0 && o.name != "InputAdapter" && above.name != "InputAdapter" {
			t.codegen[i] = t.codegen[parent]
		}
		if above.isExchange() || above.name == cachedScan || o.isSubquery() {
			t.fragments[i] = t.newFragment(parent)
			if o.isSubquery() {
				t.top[t.fragments[i]], t.sides[i] = int32(i), ""
			}
		} else {
			t.fragments[i] = t.fragments[parent]
		}
	}
}

func (t *planTree) newFragment(top int32) int32 {
	t.top = append(t.top, top)
	return int32(len(t.top) - 1)
}

// upwards gives each operator what follows from those below it. A parent stands before its children.
func (t *planTree) upwards() {
	for i := len(t.nodes) - 1; i >= 0; i-- {
		t.tables[i] = t.sources(i)
		t.hashes[i] = t.hash(i)
	}
	reused := false
	for i, original := range t.reuses {
		if original >= 0 {
			t.tables[i], reused = t.tables[original], true
		}
	}
	for i := len(t.nodes) - 1; i >= 0 && reused; i-- { // those above reused exchanges
		if t.reuses[i] < 0 {
			t.tables[i] = t.sources(i)
		}
	}
}

// sources are what an operator and those below it scan. What a cached table was made of is read again only where it has no
// name. Rows of a subquery do not come to the operator that takes its value, nor to a scan that it prunes, as that of the
// target of a merge.
func (t *planTree) sources(i int) []string {
	if one := t.children[i]; len(one) == 1 && t.nodes[i].source == "" && !t.nodes[one[0]].isSubquery() {
		return t.tables[one[0]]
	}
	var list []string
	if source := t.nodes[i].source; source != "" {
		list = append(list, source)
	}
	if t.nodes[i].name != cachedScan || len(list) == 0 {
		for _, c := range t.children[i] {
			if !t.nodes[c].isSubquery() {
				list = append(list, t.tables[c]...)
			}
		}
	}
	return distinct(list)
}

// distinct are the first names of a list, each once.
func distinct(list []string) []string {
	var kept []string
	for _, s := range list {
		if len(kept) < maxTables && !slices.Contains(kept, s) {
			kept = append(kept, s)
		}
	}
	return kept
}

// hash is that of an operator and those below it. What adaptive execution puts between them, and generated code, changes
// from run to run with the sizes of the data, and takes no part.
func (t *planTree) hash(i int) uint64 {
	o := &t.bare[i]
	if (o.kind == schema.WrapperNode || o.kind == schema.ShuffleReadNode) && len(t.children[i]) == 1 {
		return t.hashes[t.children[i][0]]
	}
	h := xxhash.New()
	for _, s := range []string{o.name, o.detail, o.keys, o.rightKeys, o.joinType, string(o.build), withoutDigits(o.source)} {
		h.WriteString(s)
		h.Write([]byte{0})
	}
	for _, c := range t.children[i] {
		h.WriteString(strconv.FormatUint(t.hashes[c], 16))
		h.Write([]byte{1})
	}
	return h.Sum64()
}

func (t *planTree) hex(i int) string { return hex(t.hashes[i]) }

func (t *planTree) fingerprint() string { return t.hex(0) }

// shape is a hash of what the plan computes, however it does: the tables that it scans, the keys that it joins and groups by.
func (t *planTree) shape() string {
	var parts []string
	for i := range t.bare {
		switch o := &t.bare[i]; o.kind {
		case schema.ScanNode:
			parts = append(parts, "scan "+withoutDigits(o.source))
		case schema.JoinNode:
			keys := []string{bareKeys(o.keys), bareKeys(o.rightKeys)}
			slices.Sort(keys)
			parts = append(parts, "join "+strings.Join(keys, "="))
		case schema.AggregateNode:
			parts = append(parts, "group "+bareKeys(o.keys))
		case schema.WindowNode:
			parts = append(parts, "window "+bareKeys(o.keys))
		}
	}
	slices.Sort(parts)
	return hex(xxhash.Sum64String(strings.Join(slices.Compact(parts), "\n")))
}

// bareKeys are the columns of keys without the casts and packing that a kind of join asks for.
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

// adaptive tells whether the plan is made anew while it runs, and whether it is the one that ran in the end.
func (t *planTree) adaptive() (adaptive, final bool) {
	for i := range t.nodes {
		if t.nodes[i].name == "AdaptiveSparkPlan" {
			return true, strings.Contains(t.raw.nodes[i].simple, "isFinalPlan=true")
		}
	}
	return false, true
}

// withoutDigits is a name with # for each number in it: of two nights' folders they differ.
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
