package main

import (
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"straggler/bucket/location"
	"straggler/notebooks"
)

func notebookCommand(e *env) *cobra.Command {
	var dir string
	o := output{file: "straggler.ipynb"}
	c := &cobra.Command{
		Use:   "notebook --store DIR",
		Short: "Write a Jupyter notebook that opens a store",
		Long: `Notebook writes a notebook that reads the store's Parquet files with Python's duckdb and draws with matplotlib. It does
not need straggler, except for a store in a bucket, whose tables straggler first writes into a temporary directory.`,
		Example: `  straggler notebook --store lake -o morning.ipynb`,
		Args:    onlyFlags,
		RunE: func(c *cobra.Command, _ []string) error {
			if _, err := e.openStore(c.Context(), dir); err != nil {
				return err
			}
			path := dir
			if !location.IsURL(path) {
				var err error
				if path, err = filepath.Abs(dir); err != nil {
					return err
				}
			}
			b, err := notebooks.Starter(path)
			if err != nil {
				return err
			}
			if err := e.write(o, func(w io.Writer) error { _, err := w.Write(b); return err }); err != nil {
				return err
			}
			if o.file != "-" {
				e.say("%s is ready: open it with Jupyter", o.file)
			}
			return nil
		},
	}
	storeFlag(c, e, &dir)
	c.Flags().StringVarP(&o.file, "output", "o", o.file, "write the notebook to `FILE`; - is standard output")
	return c
}
