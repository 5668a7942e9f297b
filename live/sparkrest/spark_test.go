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
	"strings"
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

// answers waits until the driver answers, which takes long on a busy machine.
func (a *application) answers(ctx context.Context) bool {
	for {
		if conn, err := net.Dial("tcp", a.address[len("http://"):]); err == nil {
			conn.Close()
			return true
		}
		select {
		case <-time.After(300 * time.Millisecond):
		case <-ctx.Done():
			return false
		}
	}
}

// watch watches the application from when its driver answers until it is gone.
func (a *application) watch(ctx context.Context, tb testing.TB, o rest.Options, policies []string, show func(*live.Frame)) (*live.State, *rest.Client) {
	tb.Helper()
	c, err := rest.New(a.address, sparkrest.API, o)
	if err != nil {
		tb.Fatal(err)
	}
	chosen, err := policy.Choose(policies, nil, nil, nil)
	if err != nil {
		tb.Fatal(err)
	}
	if !a.answers(ctx) {
		tb.Fatal("the driver did not start")
	}
	last, err := live.Run(ctx, sparkrest.NewSource(c, ""), live.New(live.Options{Policies: chosen}), live.RunOptions{AwayFor: time.Minute, Show: show})
	if err != nil {
		tb.Fatal(err)
	}
	return last, c
}

// sleeping is a query of as many tasks, each of which sleeps for some milliseconds.
func sleeping(tasks int, ms string) string {
	return fmt.Sprintf("SELECT count(s) FROM (SELECT java_method('java.lang.Thread', 'sleep', %s) AS s FROM range(0, %d, 1, %d))", ms, tasks, tasks)
}

// A task that is slow in an application that runs on a real Spark is named before 60 % of its run time, with nothing else
// named, Spark's own rule would copy it, and when the driver is gone the watch ends.
func TestRealSpark(t *testing.T) {
	app := start(t, 6, fmt.Sprintf("SELECT count(s) FROM (SELECT java_method('java.lang.Thread', 'sleep', IF(id = %d, 30000L, 1000L)) AS s FROM range(0, 24, 1, 24))", slowTask))
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	named, others, decided := -1.0, 0, false
	began := time.Now()
	// on a machine that other tests keep busy answers take long, and the driver would be asked rarely
	last, c := app.watch(ctx, t, rest.Options{Share: 1}, []string{"spark3", "late"}, func(f *live.Frame) {
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

// BenchmarkDriver runs an application by itself, and watched: what its query takes in all, by its own word, and of
// processors. The calm one is of 800 tasks of a second on 16 slots, which leave the driver's processors idle for most of the
// time; the busy one, of 2,000 tasks of a tenth of a second, uses two of them up. later-s/min is of processors from 20 s after
// the driver answers on, when the code of its server has been loaded: the difference between the two is what watching costs
// for as long as it goes on, and the rest of the difference of processor-s is paid once.
func BenchmarkDriver(b *testing.B) {
	for _, load := range []struct {
		name  string
		tasks int
		ms    string
	}{{"calm", 800, "1000L"}, {"busy", 2000, "100L"}} {
		for _, watched := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/watched=%t", load.name, watched), func(b *testing.B) {
				var makespan, processor, later float64
				for range b.N {
					app := start(b, 16, sleeping(load.tasks, load.ms))
					type reading struct {
						at        time.Time
						processor float64
					}
					warm := make(chan reading, 1)
					go func() {
						app.answers(b.Context())
						time.Sleep(20 * time.Second)
						warm <- reading{time.Now(), app.processor()}
					}()
					if watched {
						app.watch(b.Context(), b, rest.Options{}, []string{"late", "mantri", "dolly", "spark"}, func(*live.Frame) {})
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
					all := (app.cmd.ProcessState.UserTime() + app.cmd.ProcessState.SystemTime()).Seconds()
					makespan, processor = makespan+s, processor+all
					from := <-warm
					later += (all - from.processor) / time.Since(from.at).Minutes()
				}
				b.ReportMetric(makespan/float64(b.N), "makespan-s/op")
				b.ReportMetric(processor/float64(b.N), "processor-s/op")
				b.ReportMetric(later/float64(b.N), "later-s/min")
			})
		}
	}
}

// processor is what the application has taken of processors so far, in seconds (proc(5): user and system time, in ticks of
// which Linux has 100 a second on every machine that Go runs on); 0 where it is not known.
func (a *application) processor() float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", a.cmd.Process.Pid))
	n := strings.LastIndexByte(string(text), ')')
	if err != nil || n < 0 {
		return 0
	}
	fields := strings.Fields(string(text[n+1:]))
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100
}

// timeTaken is what Spark's shell prints of a query.
var timeTaken = regexp.MustCompile(`Time taken: ([0-9.]+) seconds`)
