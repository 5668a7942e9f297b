package sparkrest_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"straggler/engine/spark/sparktest"
	"straggler/live"
	"straggler/live/rest"
	"straggler/live/sparkrest"
	"straggler/whatif/policy"
)

// slowTask is the partition of which the one row sleeps for 30 s; those of the others sleep for one.
const slowTask = 5

// application is a Spark application that runs on this machine.
type application struct {
	address string // of its driver
	cmd     *exec.Cmd
	out     string // file of what it prints
}

// start starts an application that asks one query of as many slots as are named.
func start(tb testing.TB, slots int, query string) *application {
	tb.Helper()
	home := sparktest.Home(tb)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(address)
	cmd := exec.Command(filepath.Join(home, "bin", "spark-sql"), "--master", fmt.Sprintf("local[%d]", slots), "--driver-memory", "512m", "--conf", "spark.ui.port="+port,
		"--conf", "spark.driver.bindAddress=127.0.0.1", "--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.executor.heartbeatInterval=2s",
		"--conf", "spark.sql.catalogImplementation=in-memory", "-e", query)
	cmd.Dir = tb.TempDir()
	cmd.Env = append(os.Environ(), "SPARK_HOME="+home, "SPARK_LOCAL_IP=127.0.0.1", "SPARK_LOCAL_DIRS="+cmd.Dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the script starts a JVM
	out, err := os.Create(filepath.Join(cmd.Dir, "out"))
	if err != nil {
		tb.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
		out.Close()
		if text, err := os.ReadFile(out.Name()); err == nil && tb.Failed() {
			tb.Logf("%.4000s", text)
		}
	})
	return &application{"http://" + address, cmd, out.Name()}
}

// watch watches the application from when its driver answers until it is gone.
func (a *application) watch(ctx context.Context, tb testing.TB, policies []string, show func(*live.Frame)) (*live.State, *rest.Client) {
	tb.Helper()
	c, err := rest.New(a.address, sparkrest.API, rest.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	chosen, err := policy.Choose(policies, nil, nil, nil)
	if err != nil {
		tb.Fatal(err)
	}
	for { // a driver takes long to start on a busy machine
		if conn, err := net.Dial("tcp", a.address[len("http://"):]); err == nil {
			conn.Close()
			break
		}
		select {
		case <-time.After(300 * time.Millisecond):
		case <-ctx.Done():
			tb.Fatal("the driver did not start")
		}
	}
	last, err := live.Run(ctx, sparkrest.NewSource(c, ""), live.New(live.Options{Policies: chosen}), live.RunOptions{Patience: time.Minute, Show: show})
	if err != nil {
		tb.Fatal(err)
	}
	return last, c
}

// A task that is slow in an application that runs on a real Spark is named before 60 % of its run time, with nothing else
// named, Spark's own rule would copy it, and when the driver is gone the watch ends.
func TestRealSpark(t *testing.T) {
	app := start(t, 6, fmt.Sprintf("SELECT count(s) FROM (SELECT java_method('java.lang.Thread', 'sleep', IF(id = %d, 30000L, 1000L)) AS s FROM range(0, 24, 1, 24))", slowTask))
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	named, others, decided := -1.0, 0, false
	began := time.Now()
	last, c := app.watch(ctx, t, []string{"spark3", "late"}, func(f *live.Frame) {
		for i := range f.Slow {
			s := &f.Slow[i]
			t.Logf("task %d after %.1f s: %s, %s", s.Task, s.ElapsedS, s.Cause, s.Copy.Advice)
			switch {
			case s.Task != slowTask:
				others++
			case named < 0:
				named = s.ElapsedS
			}
		}
		for _, d := range f.Decisions {
			t.Log(d.Text)
			decided = decided || d.Policy == "spark3" && d.Task == slowTask
		}
	})
	if named < 0 || named > 0.6*30 {
		t.Errorf("task %d was named after %.1f s of 30", slowTask, named)
	}
	if others > 1 || !decided {
		t.Errorf("%d other tasks were named; Spark's rule decided: %v", others, decided)
	}
	if n := len(last.Trace.Attempts); n < 24 {
		t.Errorf("%d attempts were seen of 24", n)
	}
	if took := time.Since(began); c.Asked > int(took/time.Second)+1 {
		t.Errorf("%d requests in %s", c.Asked, took)
	}
}

// BenchmarkDriver runs an application of 2,000 tasks by itself, and watched: what it takes in all, by its own word, and of
// processors.
func BenchmarkDriver(b *testing.B) {
	for _, watched := range []bool{false, true} {
		b.Run(fmt.Sprintf("watched=%t", watched), func(b *testing.B) {
			var makespan, processor float64
			for range b.N {
				app := start(b, 16, "SELECT count(s) FROM (SELECT java_method('java.lang.Thread', 'sleep', 100L) AS s FROM range(0, 4000, 1, 2000))")
				if watched {
					app.watch(b.Context(), b, []string{"late", "mantri", "dolly", "spark"}, func(*live.Frame) {})
				}
				if err := app.cmd.Wait(); err != nil {
					b.Fatal(err)
				}
				text, err := os.ReadFile(app.out)
				if err != nil {
					b.Fatal(err)
				}
				took := timeTaken.FindSubmatch(text)
				if took == nil {
					b.Fatalf("no time in %.2000s", text)
				}
				s, _ := strconv.ParseFloat(string(took[1]), 64)
				makespan += s
				processor += (app.cmd.ProcessState.UserTime() + app.cmd.ProcessState.SystemTime()).Seconds()
			}
			b.ReportMetric(makespan/float64(b.N), "makespan-s/op")
			b.ReportMetric(processor/float64(b.N), "processor-s/op")
		})
	}
}

// timeTaken is what Spark's shell prints of a query.
var timeTaken = regexp.MustCompile(`Time taken: ([0-9.]+) seconds`)
