package mcp_test

import (
	"bytes"
	"encoding/json"
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
	reporttest.Check(t, mcp.New(opened(t, false, "plain"), "test").Serve(t.Context(), strings.NewReader(in), &out))
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
