package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"straggler/spelling"
)

// ErrAddress is returned if there is no address to send to, or an invalid one.
var ErrAddress = errors.New("notify")

// Format is the form of a message.
type Format string

const (
	JSON  Format = "json"
	Slack Format = "slack" // accepted by incoming webhooks of Slack, Mattermost and Rocket.Chat
)

// Sender sends messages to one address. The address is a secret, like a password, and is in none of its errors.
type Sender struct {
	address string
	format  Format
	http    *http.Client
	pause   time.Duration // before the second try
}

// Variable is the environment variable with the address.
const Variable = "STRAGGLER_NOTIFY_URL"

// New returns a Sender of a format, to the address in the first line of a file or, if no file is named, in the environment.
func New(format, file string, env func(string) string) (*Sender, error) {
	if format != string(JSON) && format != string(Slack) {
		return nil, fmt.Errorf("%w: there is no message format %q; %s", ErrAddress, format, spelling.Choices(format, []string{string(JSON), string(Slack)}))
	}
	address := env(Variable)
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrAddress, err)
		}
		address, _, _ = strings.Cut(string(text), "\n")
	}
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		where := Variable
		if file != "" {
			where = "the first line of " + file
		}
		return nil, fmt.Errorf("%w: %s is not an http or https address to send messages to", ErrAddress, where)
	}
	return &Sender{address: u.String(), format: Format(format), pause: 2 * time.Second, http: &http.Client{Timeout: 10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
}

// Send sends a message, and tries once more if the server or the network fails.
func (s *Sender) Send(ctx context.Context, m *Message) error {
	body, err := s.body(m)
	if err != nil {
		return err
	}
	again, err := s.post(ctx, body)
	if err == nil || !again {
		return err
	}
	t := time.NewTimer(s.pause)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	_, err = s.post(ctx, body)
	return err
}

// Retry determines when to send undelivered messages again, for senders that have something to say every second: after 1, 2,
// 4 … 32 minutes. The zero value is for the first message.
type Retry struct {
	next time.Time
	wait time.Duration
}

// Due reports whether a message may be sent at a time.
func (r *Retry) Due(now time.Time) bool { return !now.Before(r.next) }

// Note records the outcome of a message.
func (r *Retry) Note(now time.Time, err error) {
	if err == nil {
		*r = Retry{}
		return
	}
	r.wait = min(max(2*r.wait, time.Minute), 32*time.Minute)
	r.next = now.Add(r.wait)
}

// post sends a body; again reports whether another try may succeed.
func (s *Sender) post(ctx context.Context, body []byte) (again bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address, bytes.NewReader(body))
	if err != nil {
		return false, fmt.Errorf("%w: the message could not be made", ErrAddress)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := s.http.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		var u *url.Error
		if errors.As(err, &u) { // it contains the address, and the wrapped error may contain the host
			err = u.Err
		}
		return true, fmt.Errorf("notify: the message was not delivered: %s", s.without(err.Error()))
	}
	defer answer.Body.Close()
	io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10))
	switch c := answer.StatusCode; {
	case c >= 200 && c < 300:
		return false, nil
	case c >= 300 && c < 400:
		return false, fmt.Errorf("notify: the message was not delivered: the server sends it elsewhere (%s), and it is sent to the given address only", answer.Status)
	default:
		return c >= 500 || c == http.StatusTooManyRequests, fmt.Errorf("notify: the message was not delivered: the server answers %s", answer.Status)
	}
}

// without removes the parts of the address that a text may contain.
func (s *Sender) without(text string) string {
	u, err := url.Parse(s.address)
	if err != nil {
		return "the network failed"
	}
	for _, part := range []string{s.address, u.Host, u.Hostname()} {
		text = strings.ReplaceAll(text, part, "…")
	}
	return text
}

// body returns a message in the sender's format.
func (s *Sender) body(m *Message) ([]byte, error) {
	if s.format == Slack {
		return json.Marshal(map[string]string{"text": m.slack()})
	}
	type generic struct {
		Tool string `json:"tool"`
		*Message
		Text string `json:"text"`
	}
	return json.Marshal(generic{"straggler", m, m.text()})
}
