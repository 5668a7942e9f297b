package sparkrest_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"straggler/live"
	"straggler/live/rest"
	"straggler/live/sparkrest"
	"straggler/stats"
	"straggler/whatif/policy"
)

// inTurns is a source that is polled only while its mutex is free.
type inTurns struct {
	live.Source
	sync.Mutex
}

func (s *inTurns) Poll(ctx context.Context) (*live.State, error) {
	s.Lock()
	defer s.Unlock()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return s.Source.Poll(ctx)
}

// BenchmarkDriver runs the same query repeatedly in one application, alternately watched and not, and compares the makespan
// reported by Spark, with the 95 % interval over pairs of neighbours, and the processor time of the whole driver per minute.
// The driver's threads that serve its REST API are measured separately: serving-s/min is their processor time per minute
// while it is watched. once-s is the one-time cost of loading the server's code for the first answers. With taskset(1) the
// driver runs on processor 0 only, and this process where it was started.
func BenchmarkDriver(b *testing.B) {
	const warm, pairs, tasks, slots = 2, 12, 96, 16
	for range b.N {
		in, out, err := os.Pipe()
		if err != nil {
			b.Fatal(err)
		}
		var first []string
		if taskset, err := exec.LookPath("taskset"); err == nil {
			first = []string{taskset, "-c", "0"}
		}
		app := start(b, fmt.Sprintf("local[%d]", slots), "", in, first...)
		in.Close()
		if !app.answers(b.Context()) {
			b.Fatal("the driver did not start")
		}
		turn := func() (seconds float64) {
			before := len(app.times())
			fmt.Fprintf(out, "SELECT count(slept) FROM (SELECT java_method('java.lang.Thread', 'sleep', 1000L) AS slept FROM range(0, %d, 1, %[1]d));\n", tasks)
			for began := time.Now(); len(app.times()) == before; time.Sleep(10 * time.Millisecond) {
				if time.Since(began) > 2*time.Minute {
					b.Fatal("a query has not ended")
				}
			}
			return app.times()[before]
		}
		for range warm {
			turn()
		}
		c, err := rest.New(app.address, sparkrest.API, rest.Options{})
		if err != nil {
			b.Fatal(err)
		}
		src := &inTurns{Source: sparkrest.NewSource(c, "")}
		policies, err := policy.Choose([]string{"late", "mantri", "dolly", "spark"}, nil, nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		src.Lock()
		ctx, cancel := context.WithCancel(b.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := live.Run(ctx, src, live.New(live.Options{Policies: policies}), live.RunOptions{Show: func(*live.Frame) {}})
			ended <- err
		}()
		once := app.processor("SparkUI")
		src.Unlock()
		turn()
		turn()
		src.Lock() // after the current poll
		once = app.processor("SparkUI") - once
		asked := c.Asked
		var ratios []float64
		var watching time.Duration                 // includes the rest of a poll after the query in which it began
		var seconds, processor, serving [2]float64 // not watched, watched
		for i := range pairs {
			var took [2]float64
			for k := range 2 {
				watched := (i + k) % 2 // the order within a pair alternates
				began := time.Now()
				if watched == 1 {
					src.Unlock()
				}
				all, ui, at := app.processor(""), app.processor("SparkUI"), time.Now()
				took[watched] = turn()
				seconds[watched] += time.Since(at).Seconds()
				processor[watched] += app.processor("") - all
				serving[watched] += app.processor("SparkUI") - ui
				if watched == 1 {
					src.Lock()
					watching += time.Since(began)
				}
			}
			ratios = append(ratios, took[1]/took[0])
		}
		mean, half := interval(ratios)
		b.ReportMetric(100*(mean-1), "makespan-%")
		b.ReportMetric(100*half, "±%")
		b.ReportMetric(60*processor[0]/seconds[0], "alone-s/min")
		b.ReportMetric(60*processor[1]/seconds[1], "watched-s/min")
		b.ReportMetric(60*(serving[1]/seconds[1]-serving[0]/seconds[0]), "serving-s/min")
		b.ReportMetric(float64(c.Asked-asked)/watching.Minutes(), "requests/min")
		b.ReportMetric(once, "once-s")
		cancel()
		src.Unlock()
		<-ended
		io.WriteString(out, "quit;\n")
		out.Close()
		app.cmd.Wait()
	}
}

// interval returns the mean of a sample and half of its 95 % interval by Student's t.
func interval(x []float64) (mean, half float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	squares := 0.0
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	n := float64(len(x))
	return mean, stats.Student{DF: n - 1}.Quantile(0.975) * math.Sqrt(squares/(n-1)/n)
}

// times returns the durations of the finished queries according to Spark.
func (a *application) times() (seconds []float64) {
	text, _ := os.ReadFile(a.out)
	for _, m := range timeTaken.FindAllSubmatch(text, -1) {
		s, _ := strconv.ParseFloat(string(m[1]), 64)
		seconds = append(seconds, s)
	}
	return seconds
}

var timeTaken = regexp.MustCompile(`Time taken: ([0-9.]+) seconds`)

// processor returns the processor time in seconds of the application's threads with a name so far; with "" that of all
// threads it ever had (proc(5): user and system time, in ticks, of which Linux has 100 per second on every machine that Go
// supports).
func (a *application) processor(threads string) (seconds float64) {
	files := []string{fmt.Sprintf("/proc/%d/stat", a.cmd.Process.Pid)}
	if threads != "" {
		files, _ = filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", a.cmd.Process.Pid))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		n := strings.LastIndexByte(string(text), ')')
		if err != nil || n < 0 || !strings.Contains(string(text[:n]), "("+threads) {
			continue
		}
		fields := strings.Fields(string(text[n+1:]))
		user, _ := strconv.ParseFloat(fields[11], 64)
		system, _ := strconv.ParseFloat(fields[12], 64)
		seconds += (user + system) / 100
	}
	return seconds
}
