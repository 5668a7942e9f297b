package main

import (
	"github.com/spf13/pflag"

	"straggler/selection"
)

// selectionFlags choose the applications that a verb is about.
type selectionFlags struct{ application, since string }

// flags adds them; does is what the verb does with the applications that are meant.
func (o *selectionFlags) flags(f *pflag.FlagSet, does string) {
	f.StringVar(&o.application, "application", "", does+" the applications with this `ID` or name")
	f.StringVar(&o.since, "since", "", does+" applications that started on this `DATE` or later, such as 2026-11-22 or '2026-11-22 18:30' (UTC)")
}

// withShort adds --app, the short form of --application.
func (o *selectionFlags) withShort(f *pflag.FlagSet, does string) {
	o.flags(f, does)
	f.StringVar(&o.application, "app", "", "short for --application")
}

func (o selectionFlags) applications() (selection.Applications, error) {
	a := selection.Applications{Named: o.application}
	if o.since == "" {
		return a, nil
	}
	var err error
	if a.Since, err = selection.ParseSince(o.since); err != nil {
		return a, useError("--since: %v", err)
	}
	return a, nil
}
