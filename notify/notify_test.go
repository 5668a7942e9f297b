package notify

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func sender(t *testing.T, format, address string) *Sender {
	t.Helper()
	s, err := New(format, "", func(string) string { return address })
	if err != nil {
		t.Fatal(err)
	}
	s.pause = time.Millisecond
	return s
}

var changes = []Change{
	{ID: "1", State: Open, Application: "etl", Subject: "lost_time: <etl> & co", Detail: "likely cause: skew"},
	{ID: "2", State: Fixed, Application: "etl", Subject: "a\nb\x1b[31m *c*"},
}

// Both formats are JSON with a text. Slack's has the characters of its markup escaped, and neither contains anything that
// controls a terminal.
func TestFormats(t *testing.T) {
	var got map[string]any
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = nil
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &got); err != nil || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%v: %s", err, body)
		}
	}))
	defer server.Close()
	m := NewMessage("audit", "1 finding", changes)
	if err := sender(t, "slack", server.URL).Send(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	text := got["text"].(string)
	if len(got) != 1 || strings.Count(text, "*") != 2 || !strings.Contains(text, "&lt;etl&gt; &amp; co") ||
		strings.ContainsAny(text, "\x1b<>") || strings.Count(text, "\n") != 2 {
		t.Errorf("slack: %q", text)
	}
	if err := sender(t, "json", server.URL).Send(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	list := got["changes"].([]any)
	if got["tool"] != "straggler" || got["kind"] != "audit" || len(list) != 2 || list[0].(map[string]any)["state"] != "open" ||
		!strings.Contains(got["text"].(string), "<etl> & co") {
		t.Errorf("json: %v", got)
	}
}

// A message of many changes contains the first ones, and says how many it leaves out.
func TestManyChanges(t *testing.T) {
	m := NewMessage("audit", "many", make([]Change, 57))
	if len(m.Changes) != maxChanges || m.More != 57-maxChanges || !strings.Contains(m.text(), "37 more") {
		t.Errorf("%d changes, %d more", len(m.Changes), m.More)
	}
}

// A failing server is tried twice, one that refuses once; no error contains the address; nothing is sent elsewhere.
func TestFailures(t *testing.T) {
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	asked, code := 0, 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.Header().Set("Location", other.URL)
		w.WriteHeader(code)
	}))
	secret := server.URL + "/services/T000/SECRET"
	s := sender(t, "json", secret)
	for c, times := range map[int]int{500: 2, 429: 2, 403: 1, 302: 1, 204: 1} {
		asked, code = 0, c
		err := s.Send(context.Background(), NewMessage("audit", "x", changes))
		if asked != times || (err == nil) != (c == 204) || err != nil && (strings.Contains(err.Error(), "SECRET") || strings.Contains(err.Error(), "127.0.0.1")) {
			t.Errorf("%d: asked %d times, %v", c, asked, err)
		}
	}
	server.Close()
	err := s.Send(context.Background(), NewMessage("audit", "x", changes))
	if err == nil || strings.Contains(err.Error(), "SECRET") || strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("a server that is gone: %v", err)
	}
	if elsewhere > 0 {
		t.Errorf("%d messages went elsewhere", elsewhere)
	}
}

// The address comes from a file or the environment, and an invalid one is reported without showing it.
func TestAddress(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hook")
	for content, ok := range map[string]bool{"https://hooks.example/T/SECRET\nmore": true, "": false, "SECRET": false, "ftp://x/SECRET": false} {
		os.WriteFile(file, []byte(content), 0o600)
		_, err := New("slack", file, func(string) string { return "" })
		if (err == nil) != ok || err != nil && (!errors.Is(err, ErrAddress) || strings.Contains(err.Error(), "SECRET")) {
			t.Errorf("%q: %v", content, err)
		}
	}
	if _, err := New("xml", "", func(string) string { return "http://x" }); !errors.Is(err, ErrAddress) {
		t.Errorf("%v", err)
	}
}

// Over several nights, a finding is sent when it opens and when it is fixed, once each; undelivered changes are sent the next
// night.
func TestOncePerChange(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sent")
	night := func(delivered bool, now ...Change) (said []string) {
		sent, err := ReadSent(file)
		if err != nil {
			t.Fatal(err)
		}
		news := sent.Unsent(now)
		for _, c := range news {
			said = append(said, c.ID+" "+string(c.State))
		}
		note := sent.Failed
		if delivered {
			note = sent.Delivered
		}
		if err := note(news); err != nil {
			t.Fatal(err)
		}
		return said
	}
	open, fixed := Change{ID: "a", State: Open}, Change{ID: "a", State: Fixed}
	for i, x := range []struct {
		delivered bool
		now       []Change
		want      string
	}{
		{true, nil, ""}, {true, []Change{fixed}, ""}, {false, []Change{open}, "a open"}, {true, []Change{open}, "a open"}, {true, []Change{open}, ""},
		{true, []Change{fixed}, "a fixed"}, {true, []Change{fixed}, ""}, {true, []Change{open}, "a open"},
		// the night after a fix does not mention it by itself
		{false, []Change{fixed}, "a fixed"}, {false, nil, "a fixed"}, {true, nil, "a fixed"}, {true, nil, ""},
		{true, []Change{open}, "a open"}, {false, []Change{fixed}, "a fixed"}, {true, []Change{open}, ""}, {true, nil, ""}, {true, []Change{fixed}, "a fixed"},
	} {
		if got := strings.Join(night(x.delivered, x.now...), " "); got != x.want {
			t.Errorf("night %d: said %q, want %q", i, got, x.want)
		}
	}
	os.WriteFile(file, []byte("not ours"), 0o666)
	if _, err := ReadSent(file); !errors.Is(err, ErrSent) {
		t.Errorf("%v", err)
	}
}

// After an undelivered message the wait before the next is twice as long as before, and at most half an hour; after a
// delivered one there is none.
func TestRetry(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	var r Retry
	if !r.Due(now) {
		t.Error("the first message has to wait")
	}
	for _, minutes := range []time.Duration{1, 2, 4, 8, 16, 32, 32} {
		r.Note(now, errors.New("refused"))
		if wait := minutes * time.Minute; r.Due(now.Add(wait-1)) || !r.Due(now.Add(wait)) {
			t.Errorf("it does not wait for %s", wait)
		}
	}
	if r.Note(now, nil); !r.Due(now) {
		t.Error("it waits after a message that was delivered")
	}
}
