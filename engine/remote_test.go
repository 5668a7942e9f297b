package engine_test

import (
	"fmt"
	"testing"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/engine/enginetest"
)

// Text sent to a copy in a line is restored unchanged.
func TestRemoteText(t *testing.T) {
	eng, err := engines.Open(t.Context(), enginetest.Store(t), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	for _, text := range []string{"", "plain", "a\tb", "a\r\nb\r", `\N`, `\\t`, `\`, "it's √2", "\t\n\r\\s\\"} {
		rows, err := eng.Query(t.Context(), fmt.Sprintf("SELECT %s AS sent FROM (SELECT %s AS x) AS t", engine.RemoteText("x"), eng.Dialect().QuoteText(text)))
		if err != nil {
			t.Fatal(err)
		}
		rows.Next()
		sent, _ := rows.Value(0).(string)
		rows.Close()
		got, err := engine.RemoteField{Text: sent, OK: true}.TextOf()
		if err != nil || got != text || sent == engine.RemoteNull {
			t.Errorf("%q was sent as %q and is %q: %v", text, sent, got, err)
		}
		for _, c := range sent {
			if c < ' ' {
				t.Errorf("%q was sent as %q", text, sent)
			}
		}
	}
	for _, text := range []string{`a\`, `\x`} {
		if got, err := (engine.RemoteField{Text: text, OK: true}).TextOf(); err == nil {
			t.Errorf("%q is read as %q", text, got)
		}
	}
}
