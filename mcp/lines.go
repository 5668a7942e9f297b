package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxFrame bounds a message, which is one line. The library refuses longer ones.
const maxFrame = sdk.DefaultMaxLineLength - 1

// grace is how long to wait for answers after the last request. An estimate: all but replays take less.
const grace = 5 * time.Second

// Codes of JSON-RPC 2.0 §5.1.
const (
	parseError     = -32700
	invalidRequest = -32600
)

// Serve answers on a pair of streams, one message per line, until the reader or the context ends. A line that is not a message
// is answered with an error, as JSON-RPC requires, and does not end the session. Messages of a batch are answered one by one.
// Requests received before the reader ended are answered, unless that takes too long. Serve closes the reader, and closing it
// must unblock a read.
func (s *Server) Serve(ctx context.Context, in io.ReadCloser, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	messages, to := io.Pipe()
	answers := &lines{out: out, answered: make(chan struct{}, 1)}
	passed := make(chan struct{})
	go func() {
		defer close(passed)
		err := pass(in, to, answers)
		answers.settle(ctx)
		to.CloseWithError(err)
	}()
	err := s.On(ctx, &sdk.IOTransport{Reader: messages, Writer: answers})
	cancel()
	messages.Close()
	in.Close() // what it says does not matter any more
	<-passed
	return err
}

// lines writes whole lines from several goroutines, and counts pending requests.
type lines struct {
	out      io.Writer
	answered chan struct{} // holds one where a request was answered since it was last read

	mu   sync.Mutex
	open int // requests without an answer
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.out.Write(line)
	if m, notMessage := jsonrpc.DecodeMessage(bytes.TrimSpace(line)); notMessage == nil {
		if _, ok := m.(*jsonrpc.Response); ok {
			l.open--
			select {
			case l.answered <- struct{}{}:
			default:
			}
		}
	}
	return n, err
}

// asked counts a request.
func (l *lines) asked() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open++
}

func (l *lines) waiting() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open > 0
}

// settle waits until all requests are answered, within grace and the context, since cancelled requests have no answer.
func (l *lines) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	for l.waiting() {
		select {
		case <-l.answered:
		case <-ctx.Done():
			return
		}
	}
}

// Close leaves the stream open, which its owner closes.
func (l *lines) Close() error { return nil }

// refuse answers a line that is not a message. Its id is unknown.
func (l *lines) refuse(code int, why string) error {
	text, err := json.Marshal(why)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = fmt.Fprintf(l.out, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%s}}`+"\n", code, text)
	return err
}

// pass copies the messages of a stream to another, and refuses other lines.
func pass(in io.Reader, to io.Writer, answers *lines) error {
	from := bufio.NewReaderSize(in, 64<<10)
	for {
		line, whole, err := nextLine(from)
		if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0 && whole) {
			return err
		}
		var failed error
		switch line = bytes.TrimSpace(line); {
		case !whole:
			failed = answers.refuse(parseError, fmt.Sprintf("a message of more than %d bytes", maxFrame))
		case len(line) == 0:
		case !json.Valid(line):
			failed = answers.refuse(parseError, "the line is not JSON")
		default:
			failed = passMessages(line, to, answers)
		}
		if failed = cmp.Or(failed, err); failed != nil {
			return failed
		}
	}
}

// passMessages passes a message, or those of a batch.
func passMessages(text []byte, to io.Writer, answers *lines) error {
	messages := []json.RawMessage{text}
	if text[0] == '[' {
		if err := json.Unmarshal(text, &messages); err != nil || len(messages) == 0 {
			return answers.refuse(invalidRequest, "an empty batch")
		}
	}
	for _, m := range messages {
		message, err := jsonrpc.DecodeMessage(m)
		if err != nil {
			if err := answers.refuse(invalidRequest, "no message of JSON-RPC 2.0: "+err.Error()); err != nil {
				return err
			}
			continue
		}
		if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() {
			answers.asked()
		}
		if _, err := to.Write(append(bytes.Clone(m), '\n')); err != nil {
			return err
		}
	}
	return nil
}

// nextLine returns the next line without its line end; whole is false if it exceeds the limit of a message and was dropped.
func nextLine(from *bufio.Reader) (line []byte, whole bool, err error) {
	whole = true
	for {
		piece, err := from.ReadSlice('\n')
		if whole = whole && len(line)+len(piece) <= maxFrame; whole {
			line = append(line, piece...)
		} else {
			line = nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, whole, err
		}
	}
}
