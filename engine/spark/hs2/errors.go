package hs2

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/beltran/gohive/hiveserver"
)

var (
	// ErrUnreachable is returned when no connection can be made.
	ErrUnreachable = errors.New("no server")
	// ErrDenied is returned when the server denies access.
	ErrDenied = errors.New("log-in refused")
	// ErrOld is returned when the server is too old.
	ErrOld = errors.New("the server is too old")
	// ErrLost is returned when the connection broke.
	ErrLost = errors.New("the connection to the server broke")
	// ErrFrozen is returned when the server does not answer.
	ErrFrozen = errors.New("the server does not answer")
)

// StatementError is the server's error for a failed statement.
type StatementError struct {
	Code string // of the error, such as TABLE_OR_VIEW_NOT_FOUND; "" where there is none
	Text string // all that it says, with Java's stack
}

func (e *StatementError) Error() string { return brief(e.Text) }

// statusError returns nil for a request that succeeded.
func statusError(s *hiveserver.TStatus) error {
	switch s.GetStatusCode() {
	case hiveserver.TStatusCode_SUCCESS_STATUS, hiveserver.TStatusCode_SUCCESS_WITH_INFO_STATUS:
		return nil
	}
	text := s.GetErrorMessage()
	if text == "" {
		text = strings.Join(s.GetInfoMessages(), "\n")
	}
	return newStatementError(text)
}

func newStatementError(text string) error {
	if text == "" {
		text = "the server does not say why"
	}
	e := &StatementError{Text: text}
	if m := errorCode.FindStringSubmatch(text); m != nil {
		e.Code = m[1]
	}
	return e
}

// errorCode finds Spark's name of an error, such as [DIVIDE_BY_ZERO] or [PARSE_SYNTAX_ERROR].
var errorCode = regexp.MustCompile(`\[([A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)*)\] `)

// wrappers are what Java's classes put before a message.
var wrappers = regexp.MustCompile(`^(?:\*?(?:[a-z_]+\.)+[A-Za-z_$]+(?:Exception|Error)?: |Error running query: |Error operating \w+: )+`)

// brief returns the essential line of a server's long message, without names of Java classes: from the name of the error up to
// the stack trace or the plan.
func brief(text string) string {
	if m := errorCode.FindAllStringIndex(text, -1); m != nil {
		at := m[0][0]
		for _, next := range m[1:] { // Spark says it twice: Error running query: [CODE] Class: [CODE] message
			if text[next[0]:next[1]] == text[at:at+next[1]-next[0]] && next[0]-at < 200 {
				at = next[0]
			}
		}
		text = text[at:]
	} else {
		text = wrappers.ReplaceAllString(text, "")
	}
	for _, mark := range []string{"\n\tat ", ";\n'", "\n\nDriver stacktrace", "\n== SQL", "\nJVM stacktrace", "\n'", "\n+- "} {
		text, _, _ = strings.Cut(text, mark)
	}
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	const enough = 4
	return strings.TrimSpace(strings.Join(lines[:min(len(lines), enough)], " "))
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// unreachable returns the error for a server that does not exist.
func (o *Options) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("spark: %w", ctx.Err())
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("nothing answered within %s", o.Connect)
	}
	return fmt.Errorf("%w at %s: %w; is the Thrift Server (or Kyuubi) running there?", ErrUnreachable, o.Address, err)
}

// broken reports whether an error of a request means that the connection can no longer be used.
func broken(err error) bool {
	var te thrift.TTransportException
	var pe thrift.TProtocolException
	var ne net.Error
	return errors.As(err, &te) || errors.As(err, &pe) || errors.As(err, &ne) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}
