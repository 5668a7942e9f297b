package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// The examples of the help and the README run in a directory with eventlogs, a store named lake, and a query in worst.sql.

// prepared makes such a directory.
func prepared(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := unpackInto(dir); err != nil {
		t.Fatal(err)
	}
	straggler(t, dir, "report", "eventlogs", "--store", "lake", "-o", "first.json")
	query := "SELECT a.native_id, o.ratio FROM outliers o JOIN attempts a USING (attempt_id) ORDER BY o.excess_s DESC NULLS LAST LIMIT 10"
	if err := os.WriteFile(filepath.Join(dir, "worst.sql"), []byte(query), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "token.txt"), []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// runLine runs a line as a shell would.
func runLine(t *testing.T, dir, line string) {
	t.Helper()
	if strings.Contains(line, " ID") { // the last ingest's
		out, err := runShell(dir, `straggler sql --store lake "SELECT ingest_id FROM ingests" --as csv | tail -n 1`)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		line = strings.Replace(line, " ID", " "+strings.TrimSpace(out), 1)
	}
	if strings.HasPrefix(line, "straggler serve") {
		tryServer(t, dir, line)
		return
	}
	if out, err := runShell(dir, line); err != nil {
		t.Errorf("%s: %v\n%s", line, err, out)
	}
}

func runShell(dir, line string) (string, error) {
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestHelpExamples(t *testing.T) {
	t.Parallel()
	dir := prepared(t)
	each(newRoot(newEnv()), func(c *cobra.Command) {
		if c.Example == "" && c.Runnable() && !c.Hidden && c.Name() != "help" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		for _, line := range strings.Split(c.Example, "\n") {
			if c.Name() == "reproduce" {
				continue // takes ten seconds, and is tested in whatif/published
			}
			if strings.Contains(line, "spark://") {
				continue // names a server that does not exist; engines_test.go runs such commands on a real one
			}
			if c.Name() == "watch" {
				continue // names servers that do not exist; watch_test.go runs the verb on one
			}
			if line = strings.TrimSpace(line); line != "" {
				if !strings.HasPrefix(line, c.CommandPath()) && !strings.HasPrefix(line, "straggler ") {
					t.Errorf("%s: the example %q does not call straggler", c.CommandPath(), line)
				}
				runLine(t, dir, line)
			}
		}
	})
}

var codeBlock = regexp.MustCompile("(?ms)^```(\\w*)\\n(.*?)^```")

// Blocks of sh are run line by line, and so are the audits in those of yaml and cron; blocks of console have commands after a
// $ and their output.
func TestReadmeExamples(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := prepared(t)
	ran := 0
	for _, block := range codeBlock.FindAllStringSubmatch(string(text), -1) {
		for _, line := range strings.Split(strings.ReplaceAll(block[2], "\\\n", " "), "\n") {
			line = strings.TrimSpace(line)
			switch {
			case block[1] == "sh" && strings.HasPrefix(line, "go "), line == "":
			case block[1] == "sh":
				runLine(t, dir, line)
				ran++
			case block[1] == "yaml" || block[1] == "cron": // what CI systems would run
				if at := strings.Index(line, "straggler audit "); at >= 0 {
					command, _, _ := strings.Cut(line[at:], " 2>")
					runLine(t, dir, command)
					ran++
				}
			case block[1] == "sql":
				t.Errorf("SQL in the README goes into a sh block, where it is run: %s", line)
			case block[1] != "console" && block[1] != "text":
				t.Errorf("a block of %q: what is it?", block[1])
			}
		}
	}
	if ran < 5 {
		t.Errorf("the README has %d commands that were run", ran)
	}
	for _, m := range regexp.MustCompile(`(?ms)^\x60\x60\x60console\n\$ (.*?)\n(.*?)^\x60\x60\x60`).FindAllStringSubmatch(string(text), -1) {
		out, err := runShell(dir, m[1])
		if err != nil || strings.TrimSpace(out) != strings.TrimSpace(m[2]) {
			t.Errorf("%s prints, %v\n%s\nand the README says\n%s", m[1], err, out, m[2])
		}
	}
}
