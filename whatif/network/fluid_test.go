package network

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// flowOf is a flow of the reference.
type flowOf struct {
	path  Path
	most  float64
	count float64
	left  float64
	rate  float64
	tag   int32
	begin float64
	bytes float64
}

// reference is the slow solver: each flow is separate, and all rates are computed again at every event.
type reference struct {
	now   float64
	caps  []float64
	flows []*flowOf
}

// fill raises all rates together, and stops those whose link or own limit is reached.
func (r *reference) fill() {
	left := slices.Clone(r.caps)
	settled := make([]bool, len(r.flows))
	level := 0.0
	for {
		step, any := math.Inf(1), false
		for i, f := range r.flows {
			if settled[i] {
				continue
			}
			any = true
			if f.most > 0 {
				step = min(step, f.most-level)
			}
		}
		if !any {
			return
		}
		open := make([]float64, len(r.caps))
		for i, f := range r.flows {
			for n := range f.path.len() {
				if !settled[i] {
					open[f.path[n]-1] += f.count
				}
			}
		}
		for l := range left {
			if open[l] > 0 {
				step = min(step, left[l]/open[l])
			}
		}
		level += step
		for l := range left {
			left[l] -= step * open[l]
		}
		for i, f := range r.flows {
			full := f.most > 0 && level >= f.most*(1-1e-12)
			for n := range f.path.len() {
				l := f.path[n] - 1
				full = full || left[l] <= 1e-9*r.caps[l]
			}
			if !settled[i] && full {
				settled[i], f.rate = true, level
			}
		}
	}
}

// next returns the instant of the next end.
func (r *reference) next() float64 {
	at := math.Inf(1)
	for _, f := range r.flows {
		at = min(at, r.now+f.left/f.rate)
	}
	return at
}

// advance moves to an instant before which no flow ends.
func (r *reference) advance(to float64) (tags []int32) {
	rest := r.flows[:0]
	for _, f := range r.flows {
		f.left -= f.rate * (to - r.now)
		if f.left <= 1e-6*f.bytes {
			tags = append(tags, f.tag)
			continue
		}
		rest = append(rest, f)
	}
	r.now = to
	r.flows = rest
	return tags
}

// anyNet is a random set of links, with paths, and flows to start at random instants. Some are clusters of equal racks, on
// which many links are full at the same rate, and flows of one pair of racks or machines share it.
type anyNet struct {
	*rand.Rand
	caps    []float64
	cluster *Net // nil: paths lead anywhere
}

func newAnyNet(seed uint64) *anyNet {
	n := &anyNet{Rand: rand.New(rand.NewPCG(seed, 1))}
	if n.IntN(3) == 0 {
		n.cluster, _ = New(Uniform(2+n.IntN(8), 3, 20, float64(n.IntN(3))*8))
		for i := range n.cluster.links[1:] {
			n.caps = append(n.caps, n.cluster.Capacity(int32(i)))
		}
		return n
	}
	for range 1 + n.IntN(8) {
		n.caps = append(n.caps, 10*math.Exp(n.NormFloat64()))
	}
	return n
}

// path returns a path of at least one link.
func (n *anyNet) path() (p Path) {
	if n.cluster == nil {
		for _, l := range n.Perm(len(n.caps))[:min(len(n.caps), 1+n.IntN(3))] {
			p = p.via(int32(l))
		}
		return p
	}
	machines := int32(len(n.cluster.t.Rack))
	for p == (Path{}) {
		if p = n.cluster.Between(n.Int32N(machines), n.Int32N(machines)); n.IntN(2) == 0 {
			p = n.cluster.BetweenRacks(n.Int32N(machines/3), n.Int32N(machines/3))
		}
	}
	return p
}

func (n *anyNet) flow(tag int32) Flow {
	f := Flow{Path: n.path(), Bytes: math.Exp(2 * n.NormFloat64()), Count: 1 + n.Int32N(3), Tag: tag}
	if n.IntN(4) == 0 {
		f.Most = 3 * math.Exp(n.NormFloat64())
	}
	return f
}

func near(a, b, by float64) bool { return a == b || math.Abs(a-b) <= by*max(math.Abs(a), math.Abs(b)) }

// The fluid and the slow solver give the same rates after every event and the same instants of all ends, on thousands of
// random networks in which flows start and are cancelled in between.
func TestAgainstReference(t *testing.T) {
	for seed := range uint64(2000) {
		n := newAnyNet(seed)
		f, ref := NewFluid(n.caps), &reference{caps: n.caps}
		ids := map[int32]ID{}
		fail := func(format string, args ...any) {
			t.Fatalf("seed %d at %v: %s", seed, f.now, fmt.Sprintf(format, args...))
		}
		for tag := int32(0); tag < 40; tag++ {
			for range 1 + n.IntN(3) {
				x := n.flow(tag)
				ids[tag] = f.Start(x)
				ref.flows = append(ref.flows,
					&flowOf{path: x.Path, most: x.Most, count: float64(x.Count), left: x.Bytes, bytes: x.Bytes, tag: tag, begin: f.now})
				tag++
			}
			if k := n.IntN(len(ref.flows)); n.IntN(5) == 0 {
				gone := ref.flows[k]
				if moved := f.Cancel(ids[gone.tag]); !near(moved+gone.left, gone.bytes, 1e-6) {
					fail("flow %d had moved %v of %v when it was cancelled; %v were left", gone.tag, moved, gone.bytes, gone.left)
				}
				delete(ids, gone.tag)
				ref.flows = slices.Delete(ref.flows, k, k+1)
			}
			till := f.now + n.ExpFloat64()
			for {
				ref.fill()
				for _, x := range ref.flows {
					if rate := f.Rate(ids[x.tag]); !near(rate, x.rate, 1e-9) {
						fail("flow %d has rate %v, reference %v", x.tag, rate, x.rate)
					}
				}
				at, ok := f.Next()
				want := ref.next()
				if ok != !math.IsInf(want, 1) || ok && !near(at, want, 1e-9) {
					fail("next end at %v, reference %v", at, want)
				}
				if !ok || at > till {
					break
				}
				var got []int32
				for _, e := range f.Advance(at) {
					got = append(got, e.Tag)
					delete(ids, e.Tag)
				}
				if tags := ref.advance(f.now); !slices.Equal(got, tags) {
					fail("flows %v ended, reference %v", got, tags)
				}
			}
			f.Advance(till)
			ref.advance(till)
		}
	}
}

// Max-min optimality: no link above its capacity, and every flow has a full link, or its own limit, on which no flow is
// faster. So none can gain without a slower one losing.
func TestMaxMin(t *testing.T) {
	for seed := range uint64(500) {
		n := newAnyNet(seed)
		f := NewFluid(n.caps)
		live := map[ID]Flow{}
		for tag := range int32(60) {
			x := n.flow(tag)
			live[f.Start(x)] = x
			for _, e := range f.Advance(f.now + n.ExpFloat64()/5) {
				delete(live, e.ID)
			}
			checkMaxMin(t, f, n.caps, live)
		}
	}
}

// After thousands of starts and ends on a large network whose links are never empty, so that rounding could accumulate, the
// rates are still max-min and the loads are the sums of the flows.
func TestMaxMinInTheLongRun(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	net, err := New(Uniform(20, 5, 1e9, 0))
	if err != nil {
		t.Fatal(err)
	}
	live := map[ID]Flow{}
	start := func() {
		from := r.Int32N(20)
		x := Flow{Path: net.BetweenRacks(from, (from+1+r.Int32N(19))%20), Bytes: 64e6 * r.ExpFloat64()}
		if r.IntN(10) == 0 {
			x.Most = 20e6
		}
		live[net.Start(x)] = x
	}
	for range 400 {
		start()
	}
	caps := slices.Repeat([]float64{1e9}, 40)
	for n := range 10_000 {
		at, _ := net.Next()
		for _, e := range net.Advance(at) {
			delete(live, e.ID)
			start()
		}
		if n%1000 == 999 {
			checkMaxMin(t, net.Fluid, caps, live)
		}
	}
}

func checkMaxMin(t *testing.T, f *Fluid, caps []float64, live map[ID]Flow) {
	t.Helper()
	load, fastest := make([]float64, len(caps)), make([]float64, len(caps))
	for id, x := range live {
		for n := range x.Path.len() {
			l := x.Path[n] - 1
			load[l] += f.Rate(id) * float64(max(x.Count, 1))
			fastest[l] = max(fastest[l], f.Rate(id))
		}
	}
	for l, c := range caps {
		if load[l] > c*(1+1e-9) {
			t.Fatalf("link %d carries %v of %v", l, load[l], c)
		}
		if !near(load[l], f.Load(int32(l)), 1e-9) {
			t.Fatalf("link %d says that it carries %v; its flows sum to %v", l, f.Load(int32(l)), load[l])
		}
	}
	for id, x := range live {
		rate := f.Rate(id)
		held := x.Most > 0 && near(rate, x.Most, 1e-9)
		for n := range x.Path.len() {
			l := x.Path[n] - 1
			held = held || near(load[l], caps[l], 1e-9) && rate >= fastest[l]*(1-1e-9)
		}
		if !held || x.Most > 0 && rate > x.Most*(1+1e-9) {
			t.Fatalf("nothing holds flow %d at %v", id, rate)
		}
	}
}

// runCluster runs random reads on racks of machines and returns when each ended.
func runCluster(t *testing.T, seed uint64, scale float64) (*Net, []Ended, float64) {
	r := rand.New(rand.NewPCG(seed, 2))
	top := Uniform(4, 5, 300*scale, 100*scale)
	top.Disk = slices.Repeat([]float64{80 * scale}, len(top.Rack))
	net, err := New(top)
	if err != nil {
		t.Fatal(err)
	}
	var ended []Ended
	remote := 0.0
	now := 0.0
	for tag := range int32(300) {
		now += r.ExpFloat64() / 20
		ended = append(ended, net.Advance(now/scale)...)
		src, dst := r.Int32N(20), r.Int32N(20)
		x := Flow{Path: net.Between(src, dst), Bytes: 50 * r.ExpFloat64(), Tag: tag}
		if top.Rack[src] != top.Rack[dst] {
			remote += x.Bytes
		}
		net.Start(x)
	}
	return net, append(ended, net.Advance(1e9)...), remote
}

// The uplinks have sent what the downlinks have received and what was requested; all flows end.
func TestConservation(t *testing.T) {
	for seed := range uint64(50) {
		net, ended, asked := runCluster(t, seed, 1)
		if len(ended) != 300 {
			t.Fatalf("seed %d: %d of 300 flows ended", seed, len(ended))
		}
		up, down := 0.0, 0.0
		for r := range int32(4) {
			up += net.Carried(net.Uplink(r))
			down += net.Carried(net.Downlink(r))
		}
		if !near(up, asked, 1e-9) || !near(down, asked, 1e-9) {
			t.Fatalf("seed %d: %v sent, %v received, %v asked for", seed, up, down, asked)
		}
	}
}

// The same flows give bit-identical ends; k times the bandwidth makes them k times as early.
func TestScalesAndRepeats(t *testing.T) {
	for seed := range uint64(20) {
		_, one, _ := runCluster(t, seed, 1)
		one = slices.Clone(one)
		_, again, _ := runCluster(t, seed, 1)
		if !slices.Equal(one, again) {
			t.Fatalf("seed %d: two runs differ", seed)
		}
		_, fast, _ := runCluster(t, seed, 4)
		for i := range one {
			if one[i].Tag != fast[i].Tag || !near(one[i].At, 4*fast[i].At, 1e-9) {
				t.Fatalf("seed %d: flow %d ended at %v, with 4 times the bandwidth flow %d at %v", seed, one[i].Tag, one[i].At, fast[i].Tag, fast[i].At)
			}
		}
	}
}

// Intermediate stops of Advance make no difference.
func TestAdvanceInSteps(t *testing.T) {
	n := newAnyNet(7)
	a, b := NewFluid(n.caps), NewFluid(n.caps)
	for tag := range int32(30) {
		x := n.flow(tag)
		a.Start(x)
		b.Start(x)
	}
	want := slices.Clone(a.Advance(1e6))
	var got []Ended
	for now := 0.0; len(got) < len(want) && now < 1e4; now += 0.37 {
		got = append(got, b.Advance(now)...)
	}
	if len(got) != len(want) {
		t.Fatalf("%d flows ended in steps, %d at once", len(got), len(want))
	}
	for i := range want {
		if got[i].Tag != want[i].Tag || !near(got[i].At, want[i].At, 1e-9) {
			t.Errorf("flow %d ended at %v; in steps flow %d at %v", want[i].Tag, want[i].At, got[i].Tag, got[i].At)
		}
	}
}

// Transfers without links or without bytes arrive at once.
func TestInstant(t *testing.T) {
	f := NewFluid([]float64{5})
	f.Advance(2)
	f.Start(Flow{Bytes: 100, Tag: 1})
	f.Start(Flow{Path: PathOf(0), Tag: 2})
	gone := f.Start(Flow{Bytes: 1, Tag: 3})
	f.Start(Flow{Bytes: 100, Most: 50, Tag: 4})
	if moved := f.Cancel(gone); moved != 0 {
		t.Errorf("a cancelled flow that takes no time had moved %v", moved)
	}
	if at, ok := f.Next(); !ok || at != 2 {
		t.Errorf("next end at %v, %v", at, ok)
	}
	var tags []int32
	for _, e := range f.Advance(10) {
		tags = append(tags, e.Tag)
		if want := map[int32]float64{1: 2, 2: 2, 4: 4}[e.Tag]; e.At != want {
			t.Errorf("flow %d ended at %v, want %v", e.Tag, e.At, want)
		}
	}
	if !slices.Equal(tags, []int32{1, 2, 4}) {
		t.Errorf("flows %v ended", tags)
	}
	if _, ok := f.Next(); ok {
		t.Error("something still flows")
	}
}
