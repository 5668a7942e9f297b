package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"straggler/table"
)

// version is the version of straggler; every commit records it.
const version = "0.1.0"

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
		case "github.com/duckdb/duckdb-go/v2", "github.com/apache/arrow-go/v18":
			f.Add(d.Path, d.Version)
		}
	}
	return f
}
