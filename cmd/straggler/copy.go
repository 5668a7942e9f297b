package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"straggler/causes"
	"straggler/detect"
	"straggler/engine"
	"straggler/engine/copies"
	"straggler/engine/engines"
	"straggler/ingest/formats"
	"straggler/ingest/remote"
	"straggler/ingest/run"
	"straggler/store"
	"straggler/whatif"
)

// copyMemory is the memory limit of the engine of a copy, since several copies share a machine: enough to sort the attempts of
// a batch.
const copyMemory = 256 << 20

// copyLingers gives Spark time to read the message of a copy that fails: a thread of its own reads it, and Spark reports what
// that thread has read when the process ends. On a busy machine that may be nothing.
const copyLingers = 500 * time.Millisecond

// copyCommand returns the verb that executors of a cluster run: detect, causes, whatif and ingest with --engine spark://… start
// it.
func copyCommand(e *env) *cobra.Command {
	var of, pieces string
	c := &cobra.Command{
		Use:    "copy STEP [FILE]",
		Short:  "Process rows from standard input for another straggler process",
		Hidden: true,
		Args:   cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			e.lingers = copyLingers
			if of != version {
				return useError("this machine has straggler %s, and the caller is %s: install the same version on all machines", version, of)
			}
			file := ""
			if len(args) == 2 {
				file = args[1]
			}
			if args[0] == "ingest" {
				client := remote.New(remote.Options{})
				defer client.Close()
				return run.Work(c.Context(), formats.All(), file, e.in, e.out, run.Options{Tool: version, Remote: client})
			}
			a := copies.Assignment{Step: args[0], Pieces: pieces, File: file, In: e.in, Out: e.out}
			if strings.HasPrefix(args[0], copies.RowsStep+"=") {
				return copies.WriteRows(c.Context(), a)
			}
			if args[0] == detect.FiguresStep || args[0] == detect.SlowerStep {
				return detect.Copy(c.Context(), a)
			}
			if args[0] == whatif.SurveyStep || args[0] == whatif.ReplayStep {
				return whatif.Copy(c.Context(), a, func(ctx context.Context, st *store.Store) (engine.Engine, error) {
					return engines.Open(ctx, st, engine.Options{Threads: 1, MemoryBytes: copyMemory})
				})
			}
			return causes.Copy(c.Context(), a)
		},
	}
	c.Flags().StringVar(&of, "version", version, "`VERSION` of the caller")
	c.Flags().StringVar(&pieces, "pieces", "", "`PLACE` that rows for the store are written to, a directory or a URL")
	return c
}
