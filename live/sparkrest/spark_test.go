package sparkrest_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"straggler/engine/spark/sparktest"
	"straggler/live"
	"straggler/live/rest"
	"straggler/live/sparkrest"
	"straggler/schema"
	"straggler/whatif/policy"
)

// application is a Spark application running on this machine.
type application struct {
	address string // of its driver
	cmd     *exec.Cmd
	out     string // file with its output
}

// start starts an application that runs queries, given or read from in, on a master. The command is preceded by a prefix.
func start(tb testing.TB, master, queries string, in *os.File, prefix ...string) *application {
	tb.Helper()
	home := sparktest.Home(tb)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(address)
	args := append(prefix, filepath.Join(home, "bin", "spark-sql"), "--master", master, "--driver-memory", "512m")
	for _, c := range []string{"spark.ui.port=" + port, "spark.driver.bindAddress=127.0.0.1", "spark.driver.host=127.0.0.1",
		"spark.executor.heartbeatInterval=1s", "spark.executor.memory=512m", "spark.driver.extraJavaOptions=" + sparktest.Quick,
		"spark.executor.extraJavaOptions=" + sparktest.Quick, "spark.sql.catalogImplementation=in-memory",
		"spark.sql.files.openCostInBytes=1g", "spark.hadoop.io.file.buffer.size=8192"} { // one task per file
		args = append(args, "--conf", c)
	}
	if in == nil {
		args = append(args, "-e", queries)
	}
	cmd := exec.Command(args[0], args[1:]...)
	if in != nil {
		cmd.Stdin = in
	}
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
			tb.Logf("%s", text[max(len(text)-4000, 0):])
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
	last, err := live.Run(ctx, sparkrest.NewSource(c, ""), live.New(live.Options{Policies: chosen}), live.RunOptions{AwayFor: 3 * time.Minute, Show: show})
	if err != nil {
		tb.Fatal(err)
	}
	return last, c
}

// The work of a task is a text file. Each line that begins with a star sleeps for the number of milliseconds that follows it,
// times the factor of the machine: a task needs hardly any processor time, and what it has read tells how long it has slept.
const (
	pieces     = 50  // sleeping lines of a usual task
	otherLines = 400 // for each of them: Spark updates what a task has read every 1,000 lines
)

// work is the work of a task.
type work struct {
	pieces int
	ms     float64 // of each, on a machine of factor 1
}

// input writes the files of a stage, and returns their directory. Spark reads the largest first, so a task reads the file
// with its number if each is a little smaller than the one before.
func input(tb testing.TB, tasks []work) string {
	tb.Helper()
	dir := tb.TempDir()
	slices.SortStableFunc(tasks, func(a, b work) int { return b.pieces - a.pieces })
	for i, w := range tasks {
		var b bytes.Buffer
		for range w.pieces {
			fmt.Fprintf(&b, "*%04.0f\n", w.ms)
			b.Write(bytes.Repeat([]byte("and so on\n"), otherLines))
		}
		b.Write(bytes.Repeat([]byte("\n"), len(tasks)-i))
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d", i)), b.Bytes(), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// query reads the files of a directory. The machine at an address, if any, takes longer by a factor.
func query(dir, machine string, factor float64) string {
	return fmt.Sprintf(`SELECT count(slept) FROM (SELECT IF(value LIKE '*%%', java_method('java.lang.Thread', 'sleep', CAST(greatest(CAST(substr(value, 2) AS INT),
		%d * IF(java_method('java.lang.System', 'getenv', 'SPARK_LOCAL_IP') = '%s', %g, 1)) AS BIGINT)), NULL) AS slept FROM text.%[4]s%[5]s%[4]s); `, usualMS, machine, factor, "`", dir)
}

// linger keeps a driver alive until its last stage's results have been requested.
const linger = "SELECT count(slept) FROM (SELECT java_method('java.lang.Thread', 'sleep', 5000L) AS slept FROM range(0, 1, 1, 1))"

// usualMS is the duration of a piece.
const usualMS = 60

// usual returns the work of tasks that are alike except for noise.
func usual(n int, rng *rand.Rand) []work {
	tasks := make([]work, n)
	for i := range tasks {
		tasks[i] = work{pieces, usualMS * (1 + 0.3*rng.Float64())}
	}
	return tasks
}

// said is what was reported about an attempt while it ran.
type said struct {
	first float64 // after how many seconds it was called slow
	help  live.Helps
}

// TestRealSpark watches two applications on a real Spark whose executors report every second. One has three machines: in one
// query four tasks have four times as much to read; in the next a machine takes eight times as long for everything, and one
// task in nine six times as long on any machine. Nine in ten of the slowed attempts are named before 60 % of their run time,
// and for every task that has more to read the report says that copying will not help. In the other application nothing is
// wrong, and at most one task is named that is not slow in the end.
func TestRealSpark(t *testing.T) {
	sparktest.Home(t)
	began := time.Now()
	t.Run("applications", func(t *testing.T) {
		t.Run("faults", func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(1, 20))
			const bad, factor, tasks, transients = "127.0.0.3", 8, 72, 8
			skewed := usual(36, rng)
			for i := range 4 {
				skewed[i].pieces *= 4
			}
			slowed := usual(tasks, rng)
			for i := range transients {
				slowed[9*i+3].ms = 6 * usualMS
			}
			queries := query(input(t, usual(18, rng)), "", 1) + query(input(t, skewed), "", 1) + query(input(t, slowed), bad, factor) + linger
			app := start(t, sparktest.Cluster(t, 3, 6), queries, nil)
			last, what, decided := app.follow(t)
			phases := stagesOf(last)
			if len(phases) != 3 {
				t.Fatalf("%d stages were seen", len(phases))
			}
			right, named, of := 0, 0, 0
			for _, a := range phases[1] {
				if w := what[a.NativeID]; a.Task < 4 && w.help == live.No {
					right++
				} else if a.Task < 4 {
					t.Errorf("task %d reads four times as much, and of a copy was said %q", a.Task, w.help)
				}
			}
			mid := medianOf(phases[2])
			copied := 0
			for _, a := range phases[2] {
				w, ok := what[a.NativeID]
				slow := a.DurationS.V > 1.5*mid
				if fault := a.Machine.V == bad || a.Task%9 == 3; fault && slow {
					of++
					if ok && w.first <= 0.6*a.DurationS.V {
						named++
					} else {
						t.Logf("task %d on %s took %.1f s, the median %.1f: named after %.1f", a.Task, a.Machine.V, a.DurationS.V, mid, w.first)
					}
					if decided[a.Task] {
						copied++
					}
				} else if ok && !slow {
					t.Logf("task %d on %s took %.1f s, the median %.1f, and was called slow", a.Task, a.Machine.V, a.DurationS.V, mid)
				}
			}
			t.Logf("%d of %d named in time, %d of 4 skewed right, Spark would copy %d; %s", named, of, right, copied, time.Since(began))
			if of < 10 || 10*named < 9*of { // twelve are slowed; on a busy machine some take less than 1.5 times the median
				t.Errorf("%d of %d slowed attempts were named before 60 %% of their run time", named, of)
			}
			if copied == 0 {
				t.Error("Spark's own rule would copy none of the slowed tasks")
			}
		})
		t.Run("clean", func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(2, 20))
			app := start(t, "local[12]", query(input(t, usual(36, rng)), "", 1)+query(input(t, usual(36, rng)), "", 1)+linger, nil)
			last, what, _ := app.follow(t)
			alarms := 0
			for _, attempts := range stagesOf(last) {
				mid := medianOf(attempts)
				for _, a := range attempts {
					if _, ok := what[a.NativeID]; ok && a.DurationS.V <= 1.5*mid {
						alarms++
						t.Logf("task %d took %.1f s, the median %.1f, and was called slow", a.Task, a.DurationS.V, mid)
					}
				}
			}
			if n := len(last.Trace.Attempts); alarms > 1 || n < 72 {
				t.Errorf("%d false alarms; %d attempts were seen", alarms, n)
			}
		})
	})
}

// follow watches the application to its end, and returns what was reported about its attempts, and the tasks that Spark's own
// rule would copy.
func (a *application) follow(t *testing.T) (last *live.State, what map[string]said, decided map[int64]bool) {
	t.Helper()
	what, decided = map[string]said{}, map[int64]bool{}
	began := time.Now()
	// on a machine kept busy by other tests answers take long, and the driver would be polled rarely
	last, c := a.watch(t.Context(), t, rest.Options{Share: 1, Timeout: 2 * time.Minute}, []string{"spark3", "late"}, func(f *live.Frame) {
		for i := range f.Slow {
			s := &f.Slow[i]
			x, ok := what[s.NativeID]
			if !ok {
				x.first = s.ElapsedS
			}
			if x.help != s.Copy.Helps {
				t.Logf("task %d of stage %s on %s after %.1f s, median %.1f, left %.1f by %s: %s, %s", s.Task, s.Stage, s.Machine,
					s.ElapsedS, s.MedianS, s.LeftS, s.Basis, s.Cause, s.Copy.Advice)
			}
			x.help = s.Copy.Helps
			what[s.NativeID] = x
		}
		for _, d := range f.Decisions {
			if d.Policy == "spark3" {
				for _, task := range d.Of {
					decided[task] = true
				}
			}
		}
	})
	if took := time.Since(began); c.Asked > int(took/time.Second)+1 {
		t.Errorf("%d requests in %s", c.Asked, took)
	}
	return last, what, decided
}

// stagesOf returns the successful attempts of each stage that reads files, in order.
func stagesOf(s *live.State) (stages [][]schema.Attempt) {
	phases := slices.Clone(s.Trace.Phases)
	slices.SortFunc(phases, func(a, b schema.Phase) int { return cmp.Compare(a.SubmitTime.V, b.SubmitTime.V) })
	for i := range phases {
		var attempts []schema.Attempt
		for k := range s.Trace.Attempts {
			if a := &s.Trace.Attempts[k]; a.PhaseID == phases[i].PhaseID && a.Status == schema.Success {
				attempts = append(attempts, *a)
			}
		}
		if len(attempts) > 1 {
			stages = append(stages, attempts)
		}
	}
	return stages
}

func medianOf(attempts []schema.Attempt) float64 {
	var took []float64
	for i := range attempts {
		took = append(took, attempts[i].DurationS.V)
	}
	slices.Sort(took)
	return took[len(took)/2]
}
