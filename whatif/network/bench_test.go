package network

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Flows between random racks of 40, with a constant number at any time; a new one starts whenever one ends. An event is a start
// or an end.
//
// Of 1000 flows, nearly all of 740 pairs of racks change their rate with every event: it has about 50 links, and a pair is
// limited by one of 2 links.
func BenchmarkFlows(b *testing.B) {
	for _, live := range []int{100, 1000, 5000} {
		b.Run(fmt.Sprintf("racks=40/live=%d", live), func(b *testing.B) { benchFlows(b, Uniform(40, 40, 1e9, 0), live, false) })
	}
	for _, live := range []int{100, 1000} {
		b.Run(fmt.Sprintf("machines=1600/live=%d", live), func(b *testing.B) { benchFlows(b, Uniform(40, 40, 2.5e9, 125e6), live, true) })
	}
}

func benchFlows(b *testing.B, top *Topology, live int, machines bool) {
	r := rand.New(rand.NewPCG(1, 1))
	net, err := New(top)
	if err != nil {
		b.Fatal(err)
	}
	start := func() {
		p := net.BetweenRacks(r.Int32N(40), r.Int32N(40))
		if machines {
			p = net.Between(r.Int32N(1600), r.Int32N(1600))
		}
		for p == (Path{}) {
			p = net.BetweenRacks(r.Int32N(40), r.Int32N(40))
		}
		net.Start(Flow{Path: p, Bytes: 64e6 * r.ExpFloat64()})
	}
	for range live {
		start()
	}
	events := 0
	b.ReportAllocs()
	for b.Loop() {
		at, _ := net.Next()
		for range net.Advance(at) {
			start()
			events += 2
		}
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}
