package spark

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"
)

// node is a JSON value that preserves the order of its keys, for tests that change records.
type node struct {
	keys  []string // of an object
	elems []*node  // of an object or array
	raw   string   // of anything else
	open  byte     // '{', '[' or 0
}

func parseTree(tb testing.TB, text []byte) *node {
	tb.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	n, err := parseNode(d)
	if err != nil {
		tb.Fatalf("%v in %.100s", err, text)
	}
	return n
}

func parseNode(d *json.Decoder) (*node, error) {
	tok, err := d.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := tok.(json.Delim)
	if !ok {
		raw, err := json.Marshal(tok)
		return &node{raw: string(raw)}, err
	}
	n := &node{open: byte(delim)}
	for d.More() {
		if n.open == '{' {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			n.keys = append(n.keys, key.(string))
		}
		elem, err := parseNode(d)
		if err != nil {
			return nil, err
		}
		n.elems = append(n.elems, elem)
	}
	_, err = d.Token()
	return n, err
}

// write appends the value; sep is white space to put around everything.
func (n *node) write(dst []byte, sep string) []byte {
	if n.open == 0 {
		return append(dst, n.raw...)
	}
	dst = append(dst, n.open)
	for i, e := range n.elems {
		if i > 0 {
			dst = append(append(dst, ','), sep...)
		}
		if n.open == '{' {
			key, _ := json.Marshal(n.keys[i])
			dst = append(append(append(append(dst, key...), sep...), ':'), sep...)
		}
		dst = e.write(dst, sep)
	}
	return append(append(dst, sep...), n.open+2) // the closing brackets of ASCII
}

// each calls f for n and all values in it.
func (n *node) each(f func(*node)) {
	f(n)
	for _, e := range n.elems {
		e.each(f)
	}
}

// shuffle reorders the keys of n and of all objects in it.
func (n *node) shuffle(rng *rand.Rand) {
	n.each(func(n *node) {
		if n.open == '{' {
			rng.Shuffle(len(n.keys), func(i, j int) {
				n.keys[i], n.keys[j] = n.keys[j], n.keys[i]
				n.elems[i], n.elems[j] = n.elems[j], n.elems[i]
			})
		}
	})
}

// mutate changes one thing in n.
func (n *node) mutate(rng *rand.Rand) {
	var nodes []*node
	n.each(func(n *node) {
		if n.open != 0 && len(n.elems) > 0 {
			nodes = append(nodes, n)
		}
	})
	n = nodes[rng.IntN(len(nodes))]
	i, j := rng.IntN(len(n.elems)), rng.IntN(len(n.elems))
	insert := func(key string, e *node) {
		if n.open == '{' {
			n.keys = append(n.keys[:i:i], append([]string{key}, n.keys[i:]...)...)
		}
		n.elems = append(n.elems[:i:i], append([]*node{e}, n.elems[i:]...)...)
	}
	switch rng.IntN(6) {
	case 0: // drop
		if n.open == '{' {
			n.keys = append(n.keys[:i:i], n.keys[i+1:]...)
		}
		n.elems = append(n.elems[:i:i], n.elems[i+1:]...)
	case 1: // swap
		n.elems[i], n.elems[j] = n.elems[j], n.elems[i]
		if n.open == '{' {
			n.keys[i], n.keys[j] = n.keys[j], n.keys[i]
		}
	case 2: // another value
		values := []string{"null", "0", "-1", "1.5", "99999999999999999999", "true", `"x"`, `"a\"b"`, `"]},\"Task Metrics\":{"`, `"é"`, "12345678901234567"}
		n.elems[i] = &node{raw: values[rng.IntN(len(values))]}
	case 3: // a value from elsewhere
		n.elems[i] = nodes[rng.IntN(len(nodes))]
	case 4: // a new key
		insert([]string{"New Key", "Task Metrics", "Partition ID", "Accumulables", "Event"}[rng.IntN(5)], &node{raw: "7"})
	case 5: // a new list
		insert("New List", &node{open: '[', elems: []*node{{open: '{', keys: []string{"a"}, elems: []*node{{open: '['}}}}})
	}
}

// tooLarge reports whether a value has over 10 000 nodes or 100 levels, such as one that contains itself.
func (n *node) tooLarge() bool {
	left := 10_000
	var walk func(*node, int) bool
	walk = func(n *node, depth int) bool {
		if left--; left < 0 || depth > 100 {
			return true
		}
		for _, e := range n.elems {
			if walk(e, depth+1) {
				return true
			}
		}
		return false
	}
	return walk(n, 0)
}
