package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// tryServer runs a line that starts a server, on a free port, requests its first page, and interrupts it.
func tryServer(t *testing.T, dir, line string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", "exec "+line+" --listen 127.0.0.1:0")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir)
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
	defer kill.Stop()
	var said []string
	for lines := bufio.NewScanner(errs); lines.Scan(); {
		said = append(said, lines.Text())
		if url, ok := strings.CutPrefix(lines.Text(), "straggler: http://"); ok {
			if err := ask("http://" + url); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			cmd.Process.Signal(os.Interrupt)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%s: %v\n%s", line, err, strings.Join(said, "\n"))
	}
}

func ask(url string) error {
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		return err
	}
	r.SetBasicAuth("me", "0123456789abcdef") // ignored by a server without a token
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != 200 {
		return fmt.Errorf("%s: %s", url, answer.Status)
	}
	return nil
}
