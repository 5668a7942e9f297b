package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/schema"
	"straggler/shell"
)

type sqlOptions struct {
	store  string
	file   string
	output output
}

func sqlCommand(e *env) *cobra.Command {
	var o sqlOptions
	c := &cobra.Command{
		Use:   "sql --store DIR [QUERY]",
		Short: "Query a store in SQL: one query, a file, or a shell",
		Long: `Sql runs one query over the tables of a store and writes its rows. Without a query it opens a shell on a terminal, and
reads a query from standard input elsewhere. It can read the tables and nothing else: no file, no network, no change.
straggler schema lists the tables.

Keys are integers of up to 19 digits, exact in every encoding. Programs that read JSON's numbers as doubles, such as JavaScript,
change those over 2^53 (16 digits): write CAST(job_id AS STRING) for them, as the JSON of other verbs does.`,
		Example: `  straggler sql --store lake "SELECT count(*) AS attempts FROM attempts"
  straggler sql --store lake "SELECT machine, factor, verdict FROM machine_health ORDER BY factor DESC" -o machines.csv
  straggler sql --store lake -f worst.sql --as json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return runSQL(c.Context(), e, o, args) },
	}
	storeFlag(c, e, &o.store)
	c.Flags().StringVarP(&o.file, "file", "f", "", "read the query from `FILE`")
	engineFlag(c, e)
	o.output.flags(c, rowEncodings)
	return c
}

func runSQL(ctx context.Context, e *env, o sqlOptions, args []string) error {
	query, isShell, err := o.query(e, args)
	if err != nil {
		return err
	}
	if _, err := o.output.encoding(); err != nil {
		return err
	}
	st, err := e.openStore(ctx, o.store)
	if err != nil {
		return err
	}
	eng, err := engines.Open(ctx, st, engine.Options{Locked: true, Server: e.server})
	if err != nil {
		return err
	}
	defer eng.Close()
	if isShell {
		return shell.Run(ctx, eng, schema.Tables(), shell.Options{In: e.in, Out: e.out, Err: e.err, History: historyFile(),
			Width: e.width, OnInterrupt: e.setInterrupt})
	}
	rows, err := eng.Query(ctx, query)
	if err != nil {
		return queryError(ctx, err)
	}
	err = e.rows(o.output, rows)
	if rows.Err() != nil {
		err = queryError(ctx, rows.Err())
	}
	return errors.Join(err, rows.Close())
}

// query returns the query to run, unless a shell is to be opened.
func (o *sqlOptions) query(e *env, args []string) (query string, isShell bool, err error) {
	switch {
	case len(args) == 1 && o.file != "":
		return "", false, useError("give a query or -f FILE, not both")
	case len(args) == 1:
		query = args[0]
	case o.file != "":
		b, err := os.ReadFile(o.file)
		if err != nil {
			return "", false, useError("-f: %v", err)
		}
		query = string(b)
	case term.IsTerminal(int(e.in.Fd())) && e.outTerminal:
		return "", true, nil
	default:
		b, err := io.ReadAll(e.in)
		if err != nil {
			return "", false, err
		}
		query = string(b)
	}
	statements, rest := engines.Dialect(e.server).Split(query)
	if rest != "" {
		statements = append(statements, rest)
	}
	if len(statements) == 0 {
		return "", false, useError("no query: give one as an argument, with -f FILE, or on standard input")
	}
	if len(statements) > 1 {
		return "", false, useError("give one query; this is %s", count(len(statements), "statement"))
	}
	return statements[0], false, nil
}

// queryError classifies an engine's error about a query as wrong use, unless it is known to be something else.
func queryError(ctx context.Context, err error) error {
	if ctx.Err() != nil || exitCode(err) != exitInternal {
		return err
	}
	return errQuery{err}
}

// errQuery is an error about a query's text.
type errQuery struct{ error }

func (errQuery) Is(target error) bool { return target == errUse }
func (e errQuery) Unwrap() error      { return e.error }

func (e *env) setInterrupt(do func()) {
	if do == nil {
		e.onInterrupt.Store(nil)
		return
	}
	e.onInterrupt.Store(&do)
}

// historyFile returns the file for the shell's history, or "" if its directory cannot be created.
func historyFile() string {
	dir := os.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil || !strings.HasPrefix(home, "/") {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	dir = filepath.Join(dir, "straggler")
	if os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	return filepath.Join(dir, "history")
}
