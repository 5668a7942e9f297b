// Package notify takes findings whose state has changed, and sends a message to an address: as generic JSON, or in Slack's
// format.
//
//  1. message.go composes a message: a Message of Changes.
//  2. sent.go keeps what was sent, in memory or in a file, so that a change is sent once and an undelivered one again.
//  3. send.go delivers it.
//
// Start with message.go.
package notify

import (
	"fmt"
	"strings"
	"unicode"
)

// State is the state of a finding.
type State string

const (
	Open  State = "open"
	Fixed State = "fixed"
)

// Change is a finding that is open, or that was open and is closed.
type Change struct {
	ID          string `json:"id"` // the same every time
	State       State  `json:"state"`
	Application string `json:"application"`
	Severity    string `json:"severity,omitempty"`
	Subject     string `json:"subject"` // one line; as untrusted as the log it comes from
	Detail      string `json:"detail,omitempty"`
}

// Message is a set of changes that are sent together.
type Message struct {
	Kind    string   `json:"kind"` // audit, watch
	Title   string   `json:"title"`
	Changes []Change `json:"changes"`
	More    int      `json:"more"` // number of changes left out
}

// maxChanges bounds the changes of a message: Slack shows 4,000 characters.
const maxChanges = 20

// New returns a message of changes.
func NewMessage(kind, title string, changes []Change) *Message {
	n := min(len(changes), maxChanges)
	return &Message{Kind: kind, Title: title, Changes: changes[:n], More: len(changes) - n}
}

// text returns the message as plain text.
func (m *Message) text() string {
	return m.lines(func(s string) string { return s }, func(s string) string { return s })
}

// slack returns the message in Slack's markup, in which only &, < and > must be escaped, and * and ` around names could start
// markup of their own.
func (m *Message) slack() string {
	return m.lines(func(s string) string { return "*" + s + "*" },
		strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "*", "∗", "`", "ˋ", "_", "_\u200b", "~", "∼").Replace)
}

func (m *Message) lines(bold, escape func(string) string) string {
	var b strings.Builder
	b.WriteString(bold(escape(oneLine(m.Title, 200))))
	for _, c := range m.Changes {
		fmt.Fprintf(&b, "\n• %s: %s", c.State, escape(oneLine(c.Subject, 300)))
		if c.Detail != "" && c.State == Open {
			b.WriteString(" – " + escape(oneLine(c.Detail, 300)))
		}
	}
	if m.More > 0 {
		fmt.Fprintf(&b, "\n… and %d more", m.More)
	}
	return b.String()
}

// oneLine returns a text as one line, without invisible characters, and truncated.
func oneLine(s string, most int) string {
	var b strings.Builder
	n := 0
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case n == most:
			b.WriteString("…")
			return b.String()
		case unicode.IsSpace(r):
			r = ' '
		case !unicode.IsPrint(r):
			continue
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}
