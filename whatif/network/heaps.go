package network

import "math"

// due is something that ends when a count of bytes is reached, with data that is needed then.
type due[T any] struct {
	at   float64
	id   int32
	what T
}

func (d *due[T]) before(o *due[T]) bool { return d.at < o.at || d.at == o.at && d.id < o.id }

// dues is a heap with the next one on top. The caller keeps the position of each id in it.
type dues[T any] []due[T]

func (q *dues[T]) push(d due[T], places []int32) {
	*q = append(*q, d)
	q.up(len(*q)-1, places)
}

// remove removes the entry at a position.
func (q *dues[T]) remove(place int32, places []int32) {
	h, n := *q, len(*q)-1
	last := h[n]
	*q = h[:n]
	if int(place) < n {
		h[place] = last
		q.sift(int(place), places)
	}
}

// move changes when the entry at a position ends.
func (q dues[T]) move(place int32, at float64, places []int32) {
	if q[place].at != at {
		q[place].at = at
		q.sift(int(place), places)
	}
}

func (q dues[T]) sift(n int, places []int32) {
	if n > 0 && q[n].before(&q[(n-1)/2]) {
		q.up(n, places)
		return
	}
	q.down(n, places)
}

func (q dues[T]) up(n int, places []int32) {
	d := q[n]
	for n > 0 {
		k := (n - 1) / 2
		if !d.before(&q[k]) {
			break
		}
		q[n] = q[k]
		places[q[n].id] = int32(n)
		n = k
	}
	q[n] = d
	places[d.id] = int32(n)
}

func (q dues[T]) down(n int, places []int32) {
	d := q[n]
	for {
		k := 2*n + 1
		if k >= len(q) {
			break
		}
		if k+1 < len(q) && q[k+1].before(&q[k]) {
			k++
		}
		if !q[k].before(&d) {
			break
		}
		q[n] = q[k]
		places[q[n].id] = int32(n)
		n = k
	}
	q[n] = d
	places[d.id] = int32(n)
}

// minima are values of at least 0, with the least of every 32: most changes affect no minimum, and one that does requires
// reading 32 values.
type minima struct {
	bits []uint64 // ordered like the values, and compared without branches
	best []int32  // of each block: where its least is; -1: unknown
}

const block = 32

func (m *minima) reset() { m.bits, m.best = m.bits[:0], m.best[:0] }

func (m *minima) add(x float64) {
	if len(m.bits)%block == 0 {
		m.best = append(m.best, -1)
	}
	m.bits = append(m.bits, math.Float64bits(x))
	m.best[len(m.best)-1] = -1
}

func (m *minima) set(i int32, x float64) { m.put(i, math.Float64bits(x)) }

func (m *minima) put(i int32, x uint64) {
	switch best := &m.best[i/block]; {
	case *best < 0:
	case *best == i:
		if x > m.bits[i] {
			*best = -1
		}
	case x < m.bits[*best]:
		*best = i
	}
	m.bits[i] = x
}

// remove removes a value; the last one takes its position.
func (m *minima) remove(i int32) {
	last := len(m.bits) - 1
	m.put(i, m.bits[last])
	m.bits = m.bits[:last]
	switch b := last / block; {
	case last%block == 0:
		m.best = m.best[:b]
	case int(m.best[b]) == last:
		m.best[b] = -1
	}
}

// least returns the least value and one of the positions that have it; +Inf and any position if there are no others.
func (m *minima) least() (int32, float64) {
	at, least := int32(-1), math.Float64bits(math.Inf(1))
	for b, i := range m.best {
		if i < 0 {
			i = m.find(b)
		}
		if x := m.bits[i]; x < least {
			at, least = i, x
		}
	}
	return at, math.Float64frombits(least)
}

// find finds the least of a block: first its value, by four independent minima without branches, then its position.
func (m *minima) find(b int) int32 {
	from := b * block
	values := m.bits[from:min(from+block, len(m.bits))]
	least := values[0]
	rest, x, y, z := values[1:], least, least, least
	for ; len(rest) >= 4; rest = rest[4:] {
		least, x, y, z = min(least, rest[0]), min(x, rest[1]), min(y, rest[2]), min(z, rest[3])
	}
	for _, r := range rest {
		least = min(least, r)
	}
	least = min(least, x, y, z)
	at := 0
	for values[at] != least {
		at++
	}
	m.best[b] = int32(from + at)
	return int32(from + at)
}
