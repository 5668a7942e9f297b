package mcp

import (
	"os"
	"testing"

	"straggler/report/reporttest"
)

// Closing an interruptible file ends a read that waits for input; what had been written before is read.
func TestInterruptible(t *testing.T) {
	r, w, err := os.Pipe()
	reporttest.Check(t, err)
	defer r.Close()
	defer w.Close()
	in, err := interruptible(r) // which Fd makes one that blocks
	reporttest.Check(t, err)
	w.WriteString("one")
	text := make([]byte, 8)
	if n, err := in.Read(text); string(text[:n]) != "one" || err != nil {
		t.Errorf("%q, %v", text[:n], err)
	}
	waiting, ended := make(chan bool), make(chan error)
	go func() {
		close(waiting)
		_, err := in.Read(text)
		ended <- err
	}()
	<-waiting
	reporttest.Check(t, in.Close())
	if err := <-ended; err == nil {
		t.Error("the read gave something")
	}
}
