// Package sparktest runs a real Spark Thrift Server on loopback for tests, from the jars of the PyPI package pyspark, and
// simulates servers for what a real one cannot be made to do.
package sparktest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Wanted is the word in STRAGGLER_REQUIRE with which these tests run, and fail if there is no Spark.
const Wanted = "spark"

// Variable is the environment variable with the address, for --engine, of a running server that tests may share.
const Variable = "STRAGGLER_SPARK"

// Options are those of a server. The zero value is a server without passwords, in one process.
type Options struct {
	Auth   string            // of hive.server2.authentication: NOSASL, NONE, CUSTOM; "": NOSASL
	Master string            // of Spark; "": local[2]
	Port   int               // 0: any
	Set    map[string]string // settings of Spark or of Hive
	Env    []string          // additional environment variables
	Home   string            // of Spark; "": SPARK_HOME, or where python3 has pyspark

	Interpreted bool // statements are not compiled, which takes longer than running them on the few rows of tests
}

// Server is a running server.
type Server struct {
	Address string // host:port
	Port    int
	Dir     string // its scratch files and its log
	process
}

// process is a running program of Spark.
type process struct {
	name  string    // prefix of its files: the log and the process id
	stop  io.Closer // when it is closed, or this process ends, the program is killed
	ended chan struct{}
}

// Engine returns the address of a server for tests that only run queries: the one in Variable, or a new one that interprets
// statements. Further parameters may be appended after &.
func Engine(t testing.TB, o Options) string {
	t.Helper()
	want(t)
	if address := os.Getenv(Variable); address != "" {
		return address
	}
	o.Interpreted = true
	return Start(t, o).Engine("")
}

// Engine returns the server's address for --engine, with options.
func (s *Server) Engine(options string) string {
	if options == "" {
		options = "auth=nosasl"
	}
	return "spark://tester@" + s.Address + "?" + options
}

// want skips the test unless Spark is required.
func want(t testing.TB) {
	t.Helper()
	if !strings.Contains(os.Getenv("STRAGGLER_REQUIRE"), Wanted) {
		t.Skip("runs with STRAGGLER_REQUIRE=spark, Java 17 and Spark: pip install pyspark==3.5.6, and SPARK_HOME its directory")
	}
}

// Home returns the directory in which Spark is installed.
func Home(t testing.TB) string {
	t.Helper()
	want(t)
	if home := os.Getenv("SPARK_HOME"); home != "" {
		return home
	}
	out, err := exec.Command("python3", "-c", "import pyspark; print(pyspark.__path__[0])").Output()
	if err != nil {
		t.Fatalf("no Spark: set SPARK_HOME, or pip install pyspark==3.5.6 (%v)", err)
	}
	return strings.TrimSpace(string(out))
}

// linked returns a writable directory with links to everything in another one.
func linked(t testing.TB, home string) string {
	t.Helper()
	dir := t.TempDir()
	entries, err := os.ReadDir(home)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.Symlink(filepath.Join(home, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// startTimeout is how long a server may take to start on a busy machine.
const startTimeout = 3 * time.Minute

// Start starts a server that is killed when the test ends.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	want(t)
	if o.Home == "" {
		o.Home = Home(t)
	}
	if strings.HasPrefix(o.Master, "local-cluster") { // its executors work under Spark's home
		o.Home = linked(t, o.Home)
	}
	const tries = 3 // another process may take the port before the server does
	for try := 1; ; try++ {
		s, err := start(t, o)
		if err == nil {
			t.Cleanup(s.Kill)
			return s
		}
		if try == tries || o.Port != 0 {
			t.Fatal(err)
		}
		t.Logf("starting Spark again: %v", err)
	}
}

func start(t testing.TB, o Options) (*Server, error) {
	dir := t.TempDir()
	if o.Port == 0 {
		var err error
		if o.Port, err = freePort(); err != nil {
			return nil, err
		}
	}
	classes, err := withoutYARN(dir)
	if err != nil {
		return nil, err
	}
	s := &Server{Address: net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)), Port: o.Port, Dir: dir}
	env := append([]string{"SPARK_LOCAL_IP=127.0.0.1"}, o.Env...)
	if err := s.start(o.Home, dir, "server", env, append([]string{"spark-submit"}, o.arguments(dir, classes)...)...); err != nil {
		return nil, err
	}
	if err := s.await(); err != nil {
		s.Kill()
		return nil, err
	}
	return s, nil
}

// start starts one of Spark's programs, which ends with this process.
func (p *process) start(home, dir, name string, env []string, arguments ...string) error {
	p.name, p.ended = filepath.Join(dir, name), make(chan struct{})
	// The shell kills the program when this process ends, since its standard input ends then; it ends with the program.
	const script = `exec 3<&0; "$@" <&- 3<&- & p=$!; echo $p >"$0"; { read _ <&3; kill -9 $p; } & wait $p; kill $!`
	command := exec.Command("sh", append([]string{"-c", script, p.pidFile(), filepath.Join(home, "bin", arguments[0])}, arguments[1:]...)...)
	command.Dir = dir
	command.Env = append(os.Environ(), append([]string{"SPARK_HOME=" + home, "SPARK_LOCAL_DIRS=" + filepath.Join(dir, "local"),
		"SPARK_SCALA_VERSION=2.12"}, env...)...)
	log, err := os.Create(p.Log())
	if err != nil {
		return err
	}
	defer log.Close()
	command.Stdout, command.Stderr = log, log
	if p.stop, err = command.StdinPipe(); err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	go func() { command.Wait(); close(p.ended) }()
	return nil
}

// freePort returns an unused port outside of the range for outgoing connections (Linux: from 32768, RFC 6335: from 49152),
// which might take it before the server starts, or while it is started again.
func freePort() (int, error) {
	for {
		port := 16384 + rand.IntN(16384)
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		switch {
		case err == nil:
			return port, l.Close()
		case !errors.Is(err, syscall.EADDRINUSE):
			return 0, err
		}
	}
}

// codeCache is for programs of Spark that run for long. With only one compiler the cache has 48 MB, which a few hundred
// statements fill; the JVM then ends with unrelated errors. 240 MB is the default with all compilers.
const codeCache = " -XX:ReservedCodeCacheSize=240m"

// young is the heap for new objects, 40 % of it. Most objects of a server are garbage after their statement; with the default, a
// third of the small heap that the JVM begins with, collections take half of the CPU.
const young = " -Xmn640m"

// driverClasses is Spark's setting with the class path of the server, besides Spark's own.
const driverClasses = "spark.driver.extraClassPath"

// withoutYARN makes a directory for the beginning of the server's class path, in which YARN has no default settings. Spark sends
// all of Hadoop's settings with every scan of a statement, and nearly half of them are YARN's, which no test uses.
func withoutYARN(dir string) (classes string, err error) {
	classes = filepath.Join(dir, "classes")
	if err := os.Mkdir(classes, 0o755); err != nil {
		return "", err
	}
	return classes, os.WriteFile(filepath.Join(classes, "yarn-default.xml"), []byte("<configuration/>\n"), 0o644)
}

// arguments returns those of spark-submit. The class path begins with classes.
func (o *Options) arguments(dir, classes string) []string {
	master, auth := o.Master, o.Auth
	if master == "" {
		master = "local[2]"
	}
	if auth == "" {
		auth = "NOSASL"
	}
	set := map[string]string{
		"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false",
		// otherwise its memory fills with plans
		"spark.sql.ui.retainedExecutions": "20", "spark.ui.retainedJobs": "50", "spark.ui.retainedStages": "50", "spark.ui.retainedTasks": "1000",
		// it formats the plan of every statement, and formats it again whenever adaptive execution changes it
		"spark.sql.ui.explainMode": "simple", "spark.sql.debug.maxToStringFields": "2",
		"spark.sql.shuffle.partitions": "2", "spark.sql.warehouse.dir": filepath.Join(dir, "warehouse"), "spark.executor.memory": "768m",
		"spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:memory:ms;create=true", "spark.hadoop.datanucleus.schema.autoCreateAll": "true",
		"spark.hadoop.hive.metastore.schema.verification": "false",
		// no test reads Hive's tables, and for its own SQL Hive creates and asks all of its metastore when it starts
		"spark.hadoop.hive.metastore.try.direct.sql": "false",
		"spark.executor.extraJavaOptions":            Quick + codeCache,
		"spark.driver.extraJavaOptions": Quick + codeCache + young + " -Djava.io.tmpdir=" + dir + " -Dderby.system.home=" + dir +
			" -Dderby.stream.error.file=" + filepath.Join(dir, "derby.log"),
	}
	if o.Interpreted {
		set["spark.sql.codegen.wholeStage"], set["spark.sql.codegen.factoryMode"] = "false", "NO_CODEGEN"
	}
	hive := map[string]string{
		"hive.server2.thrift.port": strconv.Itoa(o.Port), "hive.server2.thrift.bind.host": "127.0.0.1", "hive.server2.authentication": auth,
		"hive.exec.scratchdir": filepath.Join(dir, "scratch"), "hive.exec.local.scratchdir": filepath.Join(dir, "scratchl"),
		"hive.server2.enable.doAs": "false",
	}
	for k, v := range o.Set {
		if strings.HasPrefix(k, "hive.") {
			hive[k] = v
		} else {
			set[k] = v
		}
	}
	set[driverClasses] = strings.TrimSuffix(classes+":"+set[driverClasses], ":")
	args := []string{"--class", "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2", "--name", "straggler", "--master",
		master, "--driver-memory", "1536m"}
	for k, v := range set {
		args = append(args, "--conf", k+"="+v)
	}
	args = append(args, "spark-internal")
	for k, v := range hive {
		args = append(args, "--hiveconf", k+"="+v)
	}
	return args
}

func (p *process) pidFile() string { return p.name + ".pid" }

// Log returns the name of the file with the program's output.
func (p *process) Log() string { return p.name + ".log" }

// await waits until the server accepts connections.
func (s *Server) await() error {
	return s.awaitLog([]string{"HiveThriftServer2 started"}, []string{"Error starting HiveThriftServer2", "BindException"}, func() bool {
		conn, err := net.DialTimeout("tcp", s.Address, time.Second)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
}

// awaitLog waits until a program has logged all words and ready returns true. It fails if one of not is logged.
func (p *process) awaitLog(words, not []string, ready func() bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		text, _ := os.ReadFile(p.Log())
		contains := func(word string) bool { return bytes.Contains(text, []byte(word)) }
		failed := slices.ContainsFunc(not, contains)
		if !failed && !slices.ContainsFunc(words, func(w string) bool { return !contains(w) }) && ready() {
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("the Spark server ended while it started:\n%s", tail(text))
		case <-ctx.Done():
			return fmt.Errorf("the Spark server has not started within %v:\n%s", startTimeout, tail(text))
		case <-tick.C:
			if failed {
				return fmt.Errorf("the Spark server could not start:\n%s", tail(text))
			}
		}
	}
}

func tail(text []byte) []byte { return text[max(0, len(text)-4000):] }

// Kill ends the program as a crash would. It may be called more than once.
func (p *process) Kill() {
	if err := p.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH) {
		return
	}
	p.stop.Close()
	<-p.ended
}

// Signal sends a signal to the program's process.
func (p *process) Signal(sig syscall.Signal) error {
	text, err := os.ReadFile(p.pidFile())
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	return syscall.Kill(pid, sig)
}
