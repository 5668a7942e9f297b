package main

import (
	"context"
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
		if news := told.News(render.Changes(n, cfg)); len(news) > 0 {
			if err = s.Send(ctx, render.Notice(n, news)); err == nil {
				err = told.Said(news)
			}
		}
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
		if len(news) == 0 {
			return
		}
		err := s.Send(ctx, view.Notice(f, news))
		if err == nil {
			err = told.Said(news)
		}
		if err != nil {
			e.say("straggler: %s", oneMessage(err))
		}
	}
}
