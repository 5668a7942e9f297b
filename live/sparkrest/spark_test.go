package sparkrest_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
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

// startApplication starts a Spark application on this machine, and gives the address of its driver.
func startApplication(t *testing.T) string {
	t.Helper()
	home := sparktest.Home(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(address)
	query := fmt.Sprintf("SELECT count(s) FROM (SELECT java_method('java.lang.Thread', 'sleep', IF(id = %d, 30000L, 1000L)) AS s FROM range(0, 24, 1, 24))", slowTask)
	cmd := exec.Command(filepath.Join(home, "bin", "spark-sql"), "--master", "local[6]", "--driver-memory", "512m", "--conf", "spark.ui.port="+port,
		"--conf", "spark.driver.bindAddress=127.0.0.1", "--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.executor.heartbeatInterval=2s",
		"--conf", "spark.sql.catalogImplementation=in-memory", "-e", query)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "SPARK_HOME="+home, "SPARK_LOCAL_IP=127.0.0.1", "SPARK_LOCAL_DIRS="+cmd.Dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the script starts a JVM
	out, err := os.Create(filepath.Join(cmd.Dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
		out.Close()
		if text, err := os.ReadFile(out.Name()); err == nil && t.Failed() {
			t.Logf("%.4000s", text)
		}
	})
	return "http://" + address
}

// A task that is slow in an application that runs on a real Spark is named before 60 % of its run time, with nothing else
// named, Spark's own rule would copy it, and when the driver is gone the watch ends.
func TestRealSpark(t *testing.T) {
	address := startApplication(t)
	c, err := rest.New(address, sparkrest.API, rest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	policies, err := policy.Choose([]string{"spark3", "late"}, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	for { // a driver takes long to start on a busy machine
		if conn, err := net.Dial("tcp", address[len("http://"):]); err == nil {
			conn.Close()
			break
		}
		select {
		case <-time.After(300 * time.Millisecond):
		case <-ctx.Done():
			t.Fatal("the driver did not start")
		}
	}
	named, others, decided := -1.0, 0, false
	began, asked := time.Now(), c.Asked
	last, err := live.Run(ctx, sparkrest.NewSource(c, ""), live.New(live.Options{Policies: policies}), live.RunOptions{Patience: time.Minute, Show: func(f *live.Frame) {
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
	}})
	if err != nil {
		t.Fatal(err)
	}
	if named < 0 || named > 0.6*30 {
		t.Errorf("task %d was named after %.1f s of 30", slowTask, named)
	}
	if others > 1 || !decided {
		t.Errorf("%d other tasks were named; Spark's rule decided: %v", others, decided)
	}
	if n := len(last.Trace.Attempts); n < 24 {
		t.Errorf("%d attempts were seen of 24", n)
	}
	if took := time.Since(began); c.Asked-asked > int(took/time.Second)+1 {
		t.Errorf("%d requests in %s", c.Asked-asked, took)
	}
}
