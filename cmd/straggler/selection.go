package main

import (
	"cmp"

	"github.com/spf13/pflag"

	"straggler/selection"
)

// selectionFlags select the applications for a verb.
type selectionFlags struct{ application, short, since string }

// flags adds them; does describes what the verb does with the selected applications.
func (o *selectionFlags) flags(f *pflag.FlagSet, does string) {
	f.StringVar(&o.application, "application", "", does+" the applications with this `ID` or name")
	f.StringVar(&o.since, "since", "", does+" applications that started on this `DATE` or later, such as 2026-11-22 or '2026-11-22 18:30' (UTC)")
}

// withShort adds --app, the short form of --application.
func (o *selectionFlags) withShort(f *pflag.FlagSet, does string) {
	o.flags(f, does)
	f.StringVar(&o.short, "app", "", "short for --application `ID`")
}

func (o selectionFlags) applications() (selection.Applications, error) {
	if o.short != "" && o.application != "" && o.short != o.application {
		return selection.Applications{}, useError("--app %s is short for --application, which is %s; leave out one of them", o.short, o.application)
	}
	a := selection.Applications{Named: cmp.Or(o.application, o.short)}
	if o.since == "" {
		return a, nil
	}
	var err error
	if a.Since, err = selection.ParseSince(o.since); err != nil {
		return a, useError("--since: %v", err)
	}
	return a, nil
}

// notSelected explains why a verb cannot be restricted to some applications of a store, and what to do instead.
var notSelected = map[string]string{
	"sql":      "a query says itself which rows it means, as in WHERE application_id IN (SELECT application_id FROM applications WHERE start_time >= '2026-11-22')",
	"export":   "whole tables are written, which another store can read; straggler sql with -o FILE writes some rows",
	"compare":  "A and B are applications already",
	"serve":    "its pages are about one application each",
	"mcp":      "the assistant asks for an application by its id",
	"notebook": "its cells name the rows that they read",
	"simulate": "the jobs of a workload are chosen in its file",
	"verify":   "a store is whole or it is not",
}
