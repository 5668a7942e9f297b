package sparktest

import (
	"fmt"
	"testing"
)

// History starts a History Server on a directory of event logs, which it lists every second, and returns its address.
func History(t testing.TB, logs string) (address string) {
	t.Helper()
	home, dir := Home(t), t.TempDir()
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{}
	options := fmt.Sprintf("SPARK_HISTORY_OPTS=-Dspark.history.fs.logDirectory=file://%s -Dspark.history.ui.port=%d -Dspark.history.fs.update.interval=1s %s", logs, port, Quick)
	if err := p.start(home, dir, "history", []string{"SPARK_LOCAL_IP=127.0.0.1", "SPARK_DAEMON_MEMORY=512m", options}, "spark-class", "org.apache.spark.deploy.history.HistoryServer"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	if err := p.awaitLog([]string{"Bound HistoryServer to"}, []string{"BindException"}, func() bool { return true }); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("http://127.0.0.1:%d", port)
}
