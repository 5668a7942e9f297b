package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"straggler/mcp"
)

func mcpCommand(e *env) *cobra.Command {
	o := serveOptions{}
	c := &cobra.Command{
		Use:   "mcp --store DIR",
		Short: "Answer assistants over the Model Context Protocol, on standard input and output",
		Long: `Mcp gives an assistant ten tools that read a store: applications, report, worst_tasks, explain_task, machines, whatif,
compare, audit, schema and sql. Its configuration names this command, such as

  {"mcpServers": {"straggler": {"command": "straggler", "args": ["mcp", "--store", "/data/lake"]}}}

Only the store's results are changed: they are brought up to date unless --fixed is given. Text from logs is under
keys that end in _from_log, so that an assistant can distinguish it from straggler's own statements.`,
		Example: `  straggler mcp --store lake < /dev/null`,
		Args:    onlyFlags,
		RunE:    func(c *cobra.Command, _ []string) error { return runMCP(c.Context(), e, o) },
	}
	storeFlag(c, e, &o.store)
	c.Flags().BoolVar(&o.fixed, "fixed", false, "change nothing in the store: outdated results are returned as they are")
	return c
}

func runMCP(ctx context.Context, e *env, o serveOptions) error {
	c, closeStore, err := o.catalog(ctx, e, nil, nil)
	if err != nil {
		return err
	}
	defer closeStore()
	defer c.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watched := make(chan error, 1)
	go func() { watched <- c.Run(ctx) }()
	if err = mcp.New(c, version).Run(ctx); err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: standard input, where an assistant speaks the Model Context Protocol: %w", errUnread, err)
	}
	cancel()
	if watching := <-watched; watching != nil {
		return watching
	}
	return err
}
