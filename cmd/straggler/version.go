package main

import (
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"straggler/table"
)

// development is the version of a build from a commit without a tag.
const development = "0.1.0"

// version is the version of straggler; every commit of a store records it.
var version = versionOf(debug.ReadBuildInfo())

// versionOf returns the version of the tag, vX.Y.Z, which the compiler embeds in a build from a tagged commit, or from the module
// of that version.
func versionOf(info *debug.BuildInfo, ok bool) string {
	if !ok || !tagged.MatchString(info.Main.Version) || untagged.MatchString(info.Main.Version) {
		return development
	}
	return strings.TrimPrefix(info.Main.Version, "v")
}

// The version of a tag, and how that of a commit without one ends (go.dev/ref/mod#pseudo-versions).
var (
	tagged   = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)
	untagged = regexp.MustCompile(`[-.][0-9]{14}-[0-9a-f]{12}$`)
)

func versionCommand(e *env) *cobra.Command {
	var o output
	c := &cobra.Command{
		Use:     "version",
		Short:   "Show what this straggler was built from",
		Example: "  straggler version",
		Args:    onlyFlags,
		RunE:    func(*cobra.Command, []string) error { return e.rows(o, buildFacts()) },
	}
	o.flags(c, rowEncodings)
	return c
}

func buildFacts() table.Rows {
	f := table.NewFixed("fact", "value")
	f.Add("straggler", version)
	f.Add("go", runtime.Version())
	f.Add("platform", runtime.GOOS+"/"+runtime.GOARCH)
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return f
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision", "vcs.time", "vcs.modified":
			f.Add(s.Key, s.Value)
		}
	}
	for _, d := range info.Deps {
		switch d.Path {
		case "github.com/duckdb/duckdb-go/v2", "github.com/parquet-go/parquet-go":
			f.Add(d.Path, d.Version)
		}
	}
	return f
}
