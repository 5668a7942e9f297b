package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/export"
)

type exportOptions struct {
	store string
	dir   string
	as    string
}

func exportCommand(e *env) *cobra.Command {
	var o exportOptions
	c := &cobra.Command{
		Use:   "export --store DIR -o OUTDIR [TABLE…]",
		Short: "Write the tables of a store as files, one per table",
		Long: `Export writes the tables that ingest fills, or the named ones, into a new directory: attempts.parquet,
phases.parquet and so on, in the order of their keys. The directory appears when it is complete. Other tools can read the
files, and so can straggler: straggler ingest OUTDIR --from canonical reads the same rows into another store, under keys of
that store. Result tables are written only when they are named, since they can be computed again.`,
		Example: `  straggler export --store lake -o tables
  straggler export --store lake -o mine --as csv attempts phases`,
		RunE: func(c *cobra.Command, args []string) error { return runExport(c.Context(), e, o, args) },
	}
	storeFlag(c, e, &o.store)
	c.Flags().StringVarP(&o.dir, "output", "o", "", "write the files into `OUTDIR`, which must be new or empty")
	c.MarkFlagRequired("output")
	c.MarkFlagDirname("output")
	c.Flags().StringVar(&o.as, "as", export.Encodings()[0], "`ENCODING` of the files: "+strings.Join(export.Encodings(), ", "))
	return c
}

func runExport(ctx context.Context, e *env, o exportOptions, names []string) error {
	tables, err := export.Tables(names)
	if err != nil {
		return useError("%w", err)
	}
	st, err := e.openStore(ctx, o.store)
	if err != nil {
		return err
	}
	eng, err := engines.Open(ctx, st, engine.Options{})
	if err != nil {
		return err
	}
	defer eng.Close()
	done := e.step("writing tables")
	files, err := export.Run(ctx, eng, tables, o.dir, o.as)
	done()
	if err != nil {
		return err
	}
	rows := int64(0)
	for _, f := range files {
		rows += f.Rows
	}
	e.say("%s with %s in %s", count(len(files), "table"), count(rows, "row"), o.dir)
	return nil
}
