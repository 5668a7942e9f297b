package read_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"straggler/ingest/read"
)

// TestFields compares with bytes.Split on lines of every length, of bytes that are a bit away from delimiters.
func TestFields(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 20_000 {
		line := make([]byte, i%70)
		for j := range line {
			line[j] = "a0,;-\xac,\x00"[rng.IntN(8)]
		}
		want := append([][]byte{[]byte("there")}, bytes.Split(line, []byte(","))...)
		got := read.Fields(line, ',', [][]byte{[]byte("there")})
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Fatalf("%q: %q, want %q", line, got, want)
		}
	}
}

// BenchmarkFields splits rows of Alibaba's instances, whose fields differ in length from row to row.
func BenchmarkFields(b *testing.B) {
	var lines [][]byte
	for i := range 1000 {
		lines = append(lines, fmt.Appendf(nil, "ins_%d,M1,j_%d,1,Terminated,%d,%d,m_%d,1,1,%d.00,%d.00,0.0%d,0.1%d",
			74901877+i, i*37, 86400+i, 86450+2*i, (i*7)%4000, 40+i%50, 90+i%50, i%10, i%10))
	}
	var dst [][]byte
	for i := 0; b.Loop(); i++ {
		dst = read.Fields(lines[i%len(lines)], ',', dst[:0])
	}
}
