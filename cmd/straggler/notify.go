package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"straggler/audit"
	"straggler/audit/render"
	"straggler/live"
	"straggler/live/screen"
	"straggler/notify"
)

// notifyOptions configure messages about findings.
type notifyOptions struct{ format, address string }

func (o *notifyOptions) flags(c *cobra.Command) {
	c.Flags().StringVar(&o.format, "notify", "",
		"send a message when a finding opens or is fixed, in `FORMAT`: json, or slack for incoming webhooks; to the address in "+notify.Variable)
	c.Flags().StringVar(&o.address, "notify-address", "", "`FILE` whose first line is the address for --notify")
}

// sender returns the sender of messages; nil: none.
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

// notifyNight sends the findings of a night whose state has changed since they were last sent, which is recorded in a file
// beside the baseline. A failure does not change the exit code.
func (e *env) notifyNight(ctx context.Context, s *notify.Sender, n *audit.Night, cfg *audit.Config, baseline string) {
	if s == nil {
		return
	}
	sent, err := notify.ReadSent(baseline + ".notified")
	if err == nil {
		news := sent.Unsent(render.Changes(n, cfg))
		err = deliver(ctx, s, render.Notice(n, news), sent, news)
	}
	if err != nil {
		e.say("straggler: %s", oneMessage(err))
	}
}

// notifyFrames sends the findings of a running application as they change. Undelivered ones are retried later, and at the end.
func (e *env) notifyFrames(ctx context.Context, s *notify.Sender) func(*live.Frame) {
	if s == nil {
		return func(*live.Frame) {}
	}
	notices, sent, retry := &screen.Notices{}, &notify.Sent{}, &notify.Retry{}
	return func(f *live.Frame) {
		news := sent.Unsent(notices.Changes(f))
		if !f.Ended && !retry.Due(time.Now()) {
			sent.Failed(news)
			return
		}
		err := deliver(ctx, s, screen.Notice(f, news), sent, news)
		if retry.Note(time.Now(), err); err != nil && ctx.Err() == nil {
			e.say("straggler: %s", oneMessage(err))
		}
	}
}

// deliver sends a message about changes, if there are any, and records whether it was delivered.
func deliver(ctx context.Context, s *notify.Sender, m *notify.Message, sent *notify.Sent, news []notify.Change) error {
	if len(news) == 0 {
		return sent.Delivered(nil)
	}
	if err := s.Send(ctx, m); err != nil {
		return errors.Join(err, sent.Failed(news))
	}
	return sent.Delivered(news)
}
