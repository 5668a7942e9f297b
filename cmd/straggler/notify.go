package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"straggler/audit"
	"straggler/audit/render"
	"straggler/live"
	view "straggler/live/screen"
	"straggler/notify"
)

// notifyOptions say where messages about findings go.
type notifyOptions struct{ format, address string }

func (o *notifyOptions) flags(c *cobra.Command) {
	c.Flags().StringVar(&o.format, "notify", "", "send a message when a finding opens or is fixed, in `FORMAT`: json, or slack for incoming webhooks; to the address in "+notify.Variable)
	c.Flags().StringVar(&o.address, "notify-address", "", "`FILE` whose first line is the address for --notify")
}

// sender is where messages go; nil: nowhere.
func (o *notifyOptions) sender() (*notify.Sender, error) {
	if o.format == "" {
		return nil, nil
	}
	s, err := notify.New(o.format, o.address, os.Getenv)
	if err != nil {
		return nil, useError("%v", err)
	}
	return s, nil
}

// notifyNight tells of the findings of a night whose state has changed since they were told of last, which a file beside the baseline keeps.
// That it fails does not change the exit code.
func (e *env) notifyNight(ctx context.Context, s *notify.Sender, n *audit.Night, cfg *audit.Config, baseline string) {
	if s == nil {
		return
	}
	told, err := notify.ReadTold(baseline + ".notified")
	if err == nil {
		news := told.News(render.Changes(n, cfg))
		err = deliver(ctx, s, render.Notice(n, news), told, news)
	}
	if err != nil {
		e.say("straggler: %s", oneMessage(err))
	}
}

// notifyFrames tells of the findings of an application that runs, as they change.
func (e *env) notifyFrames(ctx context.Context, s *notify.Sender) func(*live.Frame) {
	if s == nil {
		return func(*live.Frame) {}
	}
	notices, told := &view.Notices{}, &notify.Told{}
	return func(f *live.Frame) {
		news := told.News(notices.Changes(f))
		if err := deliver(ctx, s, view.Notice(f, news), told, news); err != nil {
			e.say("straggler: %s", oneMessage(err))
		}
	}
}

// deliver sends a message of changes, if there are any, and notes whether it was delivered.
func deliver(ctx context.Context, s *notify.Sender, m *notify.Message, told *notify.Told, news []notify.Change) error {
	if len(news) == 0 {
		return told.Said(nil)
	}
	if err := s.Send(ctx, m); err != nil {
		return errors.Join(err, told.Failed(news))
	}
	return told.Said(news)
}
