package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Only a tag gives a version: a commit without one, or with changes, is development.
func TestVersionOfTag(t *testing.T) {
	for stamped, want := range map[string]string{
		"v1.2.3": "1.2.3", "v1.2.3-rc.1": "1.2.3-rc.1", "": development, "(devel)": development, "v1.2.3+dirty": development,
		"v0.0.0-20261122143154-083c779aabbc": development, "v1.2.4-0.20261122143154-083c779aabbc": development,
		"v1.2.4-0.20261122143154-083c779aabbc+dirty": development,
		"v1.2.3-pre.0.20261122143154-083c779aabbc":   development,
	} {
		if got := versionOf(&debug.BuildInfo{Main: debug.Module{Version: stamped}}, true); got != want {
			t.Errorf("%q is version %s, want %s", stamped, got, want)
		}
	}
	if got := versionOf(nil, false); got != development {
		t.Errorf("without build information it is %s", got)
	}
}

// Every verb and topic listed by the help has a manual page with the help's text.
func TestManualPages(t *testing.T) {
	dir := t.TempDir()
	e := newEnv()
	root := newRoot(e)
	root.SetArgs([]string{"man", dir})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	pages := 0
	each(root, func(c *cobra.Command) {
		if c.Hidden || !c.IsAvailableCommand() && !c.IsAdditionalHelpTopicCommand() && c != root || strings.Contains(c.CommandPath(), "completion") {
			return
		}
		text, err := os.ReadFile(filepath.Join(dir, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"))
		if err != nil || !strings.Contains(string(text), ".SH NAME") || !strings.Contains(string(text), "straggler "+version[:1]) {
			t.Errorf("%s: %v\n%.300s", c.CommandPath(), err, text)
		}
		pages++
	})
	if pages < 20 {
		t.Errorf("%d pages, which cannot be all", pages)
	}
}
