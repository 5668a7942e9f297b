package sparktest

import (
	"os"
	"testing"
	"time"
)

// shared is the environment variable with the name of a file. The server writes its address there once it accepts queries, and
// runs as long as the file exists.
const shared = "STRAGGLER_SPARK_SHARED"

// A server that the tests of several packages share; they find its address in Variable. Its tasks have four tries, as on a
// cluster, since tests of cmd/straggler make copies of the program fail.
func TestShared(t *testing.T) {
	file := os.Getenv(shared)
	if file == "" {
		t.Skip("runs with " + shared)
	}
	server := Start(t, Options{Master: "local[2,4]", Interpreted: true})
	if err := os.WriteFile(file+".new", []byte(server.Engine("")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil { // so that no reader sees half of it
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
