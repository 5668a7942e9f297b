package formats

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"straggler/cputime"
	"straggler/ingest/ingesttest"
	"straggler/ingest/run"
	"straggler/store"
)

// The benchmarks run from files to committed tables. STRAGGLER_MEGABYTES is the size of the log to make; a few hundred show
// the speed, the default only that the code works. MB/cpu-s is what one otherwise idle core would process.

func megabytes(b *testing.B) int {
	n, err := strconv.Atoi(os.Getenv("STRAGGLER_MEGABYTES"))
	if err != nil {
		n = 8
	}
	if n < 1 {
		b.Fatal("STRAGGLER_MEGABYTES is less than one")
	}
	return n << 20
}

// ingestAll reads a directory into a new store in each iteration.
func ingestAll(b *testing.B, dir, format string) {
	b.Helper()
	var size int64
	filepath.Walk(dir, func(_ string, info os.FileInfo, _ error) error {
		if info.Mode().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	b.SetBytes(size)
	b.ReportAllocs()
	var spent time.Duration
	var rows int64
	for b.Loop() {
		b.StopTimer()
		st, err := store.Temp(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		before := cputime.Used()
		s, err := run.Run(b.Context(), st, All(), []string{dir}, run.Options{})
		spent += cputime.Used() - before
		if err != nil {
			b.Fatal(err)
		}
		if f := s.Formats(); len(f) != 1 || f[0] != format || s.Rejects > 0 || s.Content < size {
			b.Fatalf("read as %v with %d rejects, %d of %d bytes", f, s.Rejects, s.Content, size)
		}
		rows = s.Rows["attempts"]
		b.StopTimer()
		st.Close()
		b.StartTimer()
	}
	b.ReportMetric(float64(size)*float64(b.N)/1e6/spent.Seconds(), "MB/cpu-s")
	b.ReportMetric(float64(rows), "attempts")
}

// real returns the content of one of the real logs.
func real(b *testing.B, glob string) []byte {
	b.Helper()
	data, err := os.ReadFile(ingesttest.Corpus(b, glob)[0])
	if err != nil {
		b.Fatal(err)
	}
	if z, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
		if data, err = io.ReadAll(z); err != nil {
			b.Fatal(err)
		}
	}
	return data
}

// idOfCluster matches the part of Hadoop's ids that the jobs of a log share: job_200904211745_0001.
var idOfCluster = regexp.MustCompile(`_(\d{12,13})_\d{4}`)

// renamed repeats a Hadoop log with other ids.
func renamed(b *testing.B, log []byte, n int) []byte {
	id := idOfCluster.FindSubmatch(log)
	if id == nil {
		b.Fatal("the log names no job")
	}
	out := bytes.ReplaceAll(log, id[1], fmt.Appendf(nil, "%0*d", len(id[1]), n))
	return out
}

func write(b *testing.B, dir, name string, data []byte) {
	b.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
		b.Fatal(err)
	}
}

// repeat appends copies until the size is reached.
func repeat(b *testing.B, copy func(n int) []byte) []byte {
	var out []byte
	for n, size := 0, megabytes(b); len(out) < size; n++ {
		out = append(out, copy(n)...)
	}
	return out
}

func BenchmarkJobTracker(b *testing.B) {
	log, dir := real(b, "hadoop-jobtracker-log/dispatch*.gz"), b.TempDir()
	write(b, dir, "history", repeat(b, func(n int) []byte { return renamed(b, log, n) }))
	ingestAll(b, dir, "jobtracker")
}

func BenchmarkRumen(b *testing.B) {
	log, dir := real(b, "rumen/19-jobs.trace.json.gz"), b.TempDir()
	write(b, dir, "trace.json", repeat(b, func(n int) []byte { return renamed(b, log, n) }))
	ingestAll(b, dir, "rumen")
}

func BenchmarkRumenPretty(b *testing.B) {
	log, dir := real(b, "rumen/dispatch-trace-output.json.gz"), b.TempDir()
	write(b, dir, "trace.json", repeat(b, func(n int) []byte { return renamed(b, log, n) }))
	ingestAll(b, dir, "rumen")
}

// BenchmarkSmallHistories reads files as a history server keeps them: one per job, with its configuration.
func BenchmarkSmallHistories(b *testing.B) {
	dir := b.TempDir()
	log, conf := real(b, "jhist/dr-elephant/*0002-*.jhist"), real(b, "jhist/dr-elephant/*_0002_conf.xml")
	for n, size, most := 0, 0, megabytes(b); size < most; n++ {
		job := renamed(b, log, n)
		id := string(regexp.MustCompile(`job_\d+_\d+`).Find(job))
		write(b, dir, id+"-1526555694494-user-Job-1526555709175-1-1-SUCCEEDED-default-1526555699708.jhist", job)
		write(b, dir, id+"_conf.xml", conf)
		size += len(job) + len(conf)
	}
	ingestAll(b, dir, "jhist")
}

// BenchmarkLargeHistory reads the history of one job with very many tasks.
func BenchmarkLargeHistory(b *testing.B) {
	dir := b.TempDir()
	lines := strings.SplitAfter(string(real(b, "jhist/hadoop-2015/job_1329348432655_0001-10.jhist")), "\n")
	var out bytes.Buffer
	var tasks, end []string
	for _, line := range lines {
		switch {
		case strings.Contains(line, `_m_0000`):
			tasks = append(tasks, line)
		case len(tasks) == 0:
			out.WriteString(line)
		default:
			end = append(end, line)
		}
	}
	index := regexp.MustCompile(`_m_0000(\d\d)`)
	for n, size := 0, megabytes(b); out.Len() < size && len(tasks) > 0; n++ {
		for _, line := range tasks {
			out.WriteString(index.ReplaceAllString(line, fmt.Sprintf("_m_%05d$1", n)))
		}
	}
	out.WriteString(strings.Join(end, ""))
	write(b, dir, "job_1329348432655_0001-1-user-Job-2-10-1-SUCCEEDED-default.jhist", out.Bytes())
	ingestAll(b, dir, "jhist")
}

// BenchmarkAlibaba reads instances in the 2018 layout, in jobs of two tasks, with the table of tasks.
func BenchmarkAlibaba(b *testing.B) {
	dir := b.TempDir()
	var tasks, instances bytes.Buffer
	for job, size := 0, megabytes(b); instances.Len() < size; job++ {
		for task := range 2 {
			name := []string{"M1", "R2_1"}[task]
			fmt.Fprintf(&tasks, "%s,40,j_%d,1,Terminated,%d,%d,100.00,0.49\n", name, job, 86400+job, 86500+job)
			for i := range 40 {
				fmt.Fprintf(&instances, "ins_%d,%s,j_%d,1,Terminated,%d,%d,m_%d,1,1,%d.00,%d.00,0.0%d,0.1%d\n",
					74901877+i, name, job, 86400+job+i, 86450+job+2*i, (job*7+i)%4000, 40+i, 90+i, i%10, i%10)
			}
		}
	}
	write(b, dir, "batch_task.csv", tasks.Bytes())
	write(b, dir, "batch_instance.csv", instances.Bytes())
	ingestAll(b, dir, "alibaba")
}

// BenchmarkGoogle reads task events in the 2011 layout, in shards: each task is submitted, scheduled and finished.
func BenchmarkGoogle(b *testing.B) {
	dir := b.TempDir()
	const shards = 10
	parts := make([]bytes.Buffer, shards)
	for n, size := 0, megabytes(b)/shards; parts[0].Len() < size; n++ {
		part := &parts[n%shards]
		job, task, at := 3418309+n/50, n%50, 600_000_000+int64(n)*1000
		for k, event := range []int{0, 1, 4} {
			machine := ""
			if event > 0 {
				machine = strconv.Itoa(1_000_000 + n%12500)
			}
			fmt.Fprintf(part, "%d,,%d,%d,%s,%d,70s3v5qRyCO/1PCdI6fVXnrW8FU/w+5CKRSa72xgcIo=,3,9,0.125,0.07446,0.0004244,0\n",
				at+int64(k)*30_000_000, job, task, machine, event)
		}
	}
	for i := range parts {
		write(b, dir, fmt.Sprintf("task_events-part-%05d-of-%05d.csv", i, shards), parts[i].Bytes())
	}
	ingestAll(b, dir, "google")
}

// BenchmarkCanonicalCSV reads a table as exported by a query.
func BenchmarkCanonicalCSV(b *testing.B) {
	dir := b.TempDir()
	var out bytes.Buffer
	out.WriteString("phase_id,task,machine,start_time,finish_time,status,input_bytes\n")
	for n, size := 0, megabytes(b); out.Len() < size; n++ {
		at := time.Date(2026, 1, 2, 3, 4, 5, n%1000*1e6, time.UTC).Add(time.Duration(n) * time.Millisecond)
		fmt.Fprintf(&out, "%d,%d,worker-%d.example.com,%s,%s,success,%d\n", n/500, n%500, n%300,
			at.Format("2006-01-02 15:04:05.000+00"), at.Add(time.Duration(30+n%17)*time.Second).Format("2006-01-02 15:04:05.000+00"), 134217728-n%1000)
	}
	write(b, dir, "attempts.csv", out.Bytes())
	ingestAll(b, dir, "canonical")
}
