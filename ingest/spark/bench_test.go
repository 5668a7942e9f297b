package spark

import (
	"bytes"
	"context"
	"path/filepath"
	"strconv"
	"testing"

	"straggler/ingest"
	"straggler/ingest/ingesttest"
	"straggler/ingest/read"
	"straggler/schema"
)

// repeated makes a log of at least size bytes by repeating the events of a real one, with other ids of jobs, stages, RDDs and
// tasks each time.
func repeated(log []byte, size int) []byte {
	lines := bytes.SplitAfter(log, []byte("\n"))
	out := make([]byte, 0, size+len(log)*11/10)
	for round := int64(0); len(out) < size; round++ {
		for _, line := range lines {
			once := bytes.Contains(line[:min(len(line), 60)], []byte("Application")) || bytes.Contains(line[:min(len(line), 60)], []byte("LogStart"))
			if once && round > 0 {
				continue
			}
			out = moveIDs(out, line, round*1_000_000)
		}
	}
	return out
}

var movedKeys = [][]byte{[]byte(`"Task ID":`), []byte(`"Stage ID":`), []byte(`"Job ID":`), []byte(`"RDD ID":`),
	[]byte(`"Stage IDs":[`), []byte(`"Parent IDs":[`)}

// moveIDs appends line with every id after one of movedKeys increased.
func moveIDs(dst, line []byte, by int64) []byte {
	for {
		at := bytes.Index(line, []byte(`ID`))
		if at < 0 {
			return append(dst, line...)
		}
		at += 2
		for at < len(line) && line[at] != ':' && line[at] != '"' && line[at] != 's' {
			at++
		}
		end := min(len(line), at+4)
		for end > at && line[end-1] != ':' && line[end-1] != '[' {
			end--
		}
		dst = append(dst, line[:end]...)
		moved := false
		for _, k := range movedKeys {
			moved = moved || bytes.HasSuffix(line[:end], k)
		}
		line = line[end:]
		for moved {
			n := 0
			for n < len(line) && line[n] >= '0' && line[n] <= '9' {
				n++
			}
			if id, err := strconv.ParseInt(string(line[:n]), 10, 64); err == nil {
				dst = strconv.AppendInt(dst, id+by, 10)
			}
			line = line[n:]
			if moved = len(line) > 0 && line[0] == ','; moved && (line[1] < '0' || line[1] > '9') {
				break
			}
			if moved {
				dst, line = append(dst, ','), line[1:]
			}
		}
	}
}

// benchLog returns a log of the given size, made from the largest real one, or from one in the repository if there is no
// corpus.
func benchLog(b *testing.B, size int) []byte {
	b.Helper()
	logs := append(ingesttest.CorpusOrNone("spark/rapids-tools/nds_q72_*"), filepath.Join(labelled, "mixed/app-20261121033031-0011.zstd"))
	return repeated(content(b, logs[0]), size)
}

// BenchmarkScan measures one decoder, without reading and without the fold.
func BenchmarkScan(b *testing.B) {
	log := benchLog(b, 128<<20)
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		var d decoder
		var out batch
		for rest := log; len(rest) > 0; {
			n := bytes.LastIndexByte(rest[:min(len(rest), 1<<20)], '\n') + 1
			out.reset()
			d.block(&read.Block{Data: rest[:n]}, "log", &out)
			rest = rest[n:]
		}
	}
}

// BenchmarkPull measures the general scanner on the same task events.
func BenchmarkPull(b *testing.B) {
	log := benchLog(b, 32<<20)
	lines := bytes.Split(bytes.TrimSuffix(log, []byte("\n")), []byte("\n"))
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		var d decoder
		var out batch
		for i, line := range lines {
			if k, _ := leadingEvent(line); k != kindIgnored {
				d.pullEvent(k, line, &out)
			}
			if i%1000 == 0 {
				out.reset()
			}
		}
	}
}

// BenchmarkRead measures a whole read whose rows are discarded.
func BenchmarkRead(b *testing.B) {
	log := benchLog(b, 256<<20)
	in := ingesttest.Input("log", log)
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		out := ingest.NewSink(ingest.Limits{}, func(schema.Batch) error { return nil })
		if err := readLog(context.Background(), in, out); err != nil {
			b.Fatal(err)
		}
	}
}
