package sparktest

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
)

// Cluster starts a master and workers with the given numbers of cores, each with an address of its own, from 127.0.0.2 on, and
// returns the master's URL, for Options. Spark does not run a speculative copy on the host of its original, so clusters in one
// process (local-cluster) never run any.
func Cluster(t testing.TB, workers, cores int) (master string) {
	t.Helper()
	home, dir := Home(t), t.TempDir()
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	begin := func(host, name, ready string, arguments ...string) error {
		p := &process{}
		class := append([]string{"spark-class", "org.apache.spark.deploy." + arguments[0], "--host", host}, arguments[1:]...)
		if err := p.start(home, dir, name, []string{"SPARK_LOCAL_IP=" + host, "SPARK_DAEMON_MEMORY=256m", "SPARK_DAEMON_JAVA_OPTS=" + Quick, "SPARK_NO_DAEMONIZE=1"}, class...); err != nil {
			return err
		}
		t.Cleanup(p.Kill)
		return p.awaitLog([]string{ready}, []string{"BindException"}, func() bool { return true })
	}
	if err := begin("127.0.0.1", "master", "New state: ALIVE", "master.Master", "--port", fmt.Sprint(port), "--webui-port", "0"); err != nil {
		t.Fatal(err)
	}
	master = fmt.Sprintf("spark://127.0.0.1:%d", port)
	started := make(chan error)
	for i := range workers {
		go func() {
			name := fmt.Sprintf("worker%d", i)
			started <- begin(fmt.Sprintf("127.0.0.%d", i+2), name, "Successfully registered with master", "worker.Worker",
				"--webui-port", "0", "--cores", fmt.Sprint(cores), "--memory", "1g",
				"--work-dir", filepath.Join(dir, name), master)
		}()
	}
	for range workers {
		err = errors.Join(err, <-started)
	}
	if err != nil {
		t.Fatal(err)
	}
	return master
}

// Quick has the options of JVMs that do little: one compiler, one garbage collector thread and no verification start fastest.
const Quick = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
