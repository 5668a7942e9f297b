package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
)

// night makes another night's run from a labelled log: night LABEL DAY FILE [NAME]. The application is named NAME or nightly,
// its times are DAY days later, and durations of tasks vary by a few percent.
func night(ts *testscript.TestScript, neg bool, args []string) {
	name := "nightly"
	if len(args) == 4 {
		name, args = args[3], args[:3]
	}
	if neg || len(args) != 3 {
		ts.Fatalf("usage: night LABEL DAY FILE [NAME]")
	}
	day, err := strconv.Atoi(args[1])
	ts.Check(err)
	data, err := nightLog(filepath.Join(ts.Getenv("LABELLED"), args[0]), args[0], name, day)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), data, 0o666))
}

var (
	instant  = regexp.MustCompile(`:(1[5-9]\d{11})\b`)
	taskTime = regexp.MustCompile(`"Launch Time":(\d+)(.*?)"Finish Time":(\d+)`)
)

func nightLog(dir, label, name string, day int) ([]byte, error) {
	logs, err := filepath.Glob(filepath.Join(dir, "app-*.zstd"))
	if err != nil || len(logs) == 0 {
		return nil, fmt.Errorf("no log in %s: %v", dir, err)
	}
	packed, err := os.ReadFile(logs[0])
	if err != nil {
		return nil, err
	}
	dec, err := zstd.NewReader(nil)
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	data, err := dec.DecodeAll(packed, nil)
	if err != nil {
		return nil, err
	}
	id := []byte(filepath.Base(logs[0])[:len("app-20261121031636-0000")])
	data = bytes.ReplaceAll(data, id, fmt.Appendf(nil, "app-20270101000000-%04d", day))
	data = bytes.Replace(data, fmt.Appendf(nil, `"App Name":%q`, label), fmt.Appendf(nil, `"App Name":%q`, name), 1)
	r := rand.New(rand.NewPCG(1, uint64(day)))
	lines := bytes.SplitAfter(data, []byte("\n"))
	for i, line := range lines {
		if bytes.Contains(line[:min(len(line), 60)], []byte("SparkListenerTaskEnd")) {
			line = taskTime.ReplaceAllFunc(line, func(b []byte) []byte {
				m := taskTime.FindSubmatch(b)
				start, _ := strconv.ParseInt(string(m[1]), 10, 64)
				end, _ := strconv.ParseInt(string(m[3]), 10, 64)
				if end > start {
					end = start + int64(float64(end-start)*(1+0.02*r.NormFloat64()))
				}
				return fmt.Appendf(nil, `"Launch Time":%d%s"Finish Time":%d`, start, m[2], end)
			})
		}
		lines[i] = instant.ReplaceAllFunc(line, func(b []byte) []byte {
			t, _ := strconv.ParseInt(string(b[1:]), 10, 64)
			return fmt.Appendf(nil, ":%d", t+int64(day)*86_400_000)
		})
	}
	return bytes.Join(lines, nil), nil
}
