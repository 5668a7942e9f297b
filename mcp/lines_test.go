package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"straggler/mcp"
	"straggler/report/reporttest"
)

// What is not a message of the protocol is answered with a JSON-RPC error, and the session continues.
func TestNoMessages(t *testing.T) {
	const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	in := strings.Join([]string{
		`garbage`, `[]`, `{"jsonrpc":"1.0","id":2,"method":"ping"}`, `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, ``,
		strings.Repeat("[", 1_000_000), `{"jsonrpc":"2.0","id":9,"method":"` + strings.Repeat("y", 17<<20) + `"}`, `"text"`,
		hello, `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\r",
		`[{"jsonrpc":"2.0","id":"one","method":"ping"},7,{"jsonrpc":"2.0","id":"two","method":"ping"}]`,
		`{"jsonrpc":"2.0","id":"last","method":"ping"}`}, "\n") // without an end of the last line
	var out bytes.Buffer
	reporttest.Check(t, mcp.New(opened(t, false, "plain"), "test").Serve(t.Context(), io.NopCloser(strings.NewReader(in)), &out))
	codes, answered := map[int]int{}, map[any]bool{}
	for line := range strings.Lines(out.String()) {
		var a struct {
			ID    any
			Error *struct{ Code int }
		}
		reporttest.Check(t, json.Unmarshal([]byte(line), &a))
		if a.Error != nil {
			codes[a.Error.Code]++
		} else {
			answered[a.ID] = true
		}
	}
	if codes[-32700] != 3 || codes[-32600] != 5 {
		t.Errorf("errors by code: %v", codes)
	}
	for _, id := range []string{"hello", "one", "two", "last"} {
		if !answered[id] {
			t.Errorf("%s has no answer in\n%s", id, out.String())
		}
	}
}

// A session ends with its context though its client says nothing, and reads no more.
func TestServeEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, client := io.Pipe()
	server, ended := mcp.New(opened(t, false, "plain"), "test"), make(chan error)
	go func() { ended <- server.Serve(ctx, in, io.Discard) }()
	if _, err := io.WriteString(client, "garbage\n"); err != nil { // which it reads
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := io.WriteString(client, "more\n"); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("it still reads: %v", err)
	}
}
