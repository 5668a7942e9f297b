package sparktest

import (
	"os"
	"testing"
	"time"
)

// shared names a file. A server writes its address there when it can be asked, and runs as long as the file exists.
const shared = "STRAGGLER_SPARK_SHARED"

// A server that the tests of several packages share, which find its address in the environment as Variable. Its tasks are tried
// four times, as on a cluster: cmd/straggler has copies of the program fail.
func TestShared(t *testing.T) {
	file := os.Getenv(shared)
	if file == "" {
		t.Skip("runs with " + shared)
	}
	server := Start(t, Options{Master: "local[2,4]", Interpreted: true})
	if err := os.WriteFile(file+".new", []byte(server.Engine("")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil { // who waits for it never sees half of it
		t.Fatal(err)
	}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-server.ended:
			text, _ := os.ReadFile(server.Log())
			t.Fatalf("the server ended:\n%s", tail(text))
		case <-tick.C:
			if _, err := os.Stat(file); err != nil {
				return
			}
		}
	}
}
