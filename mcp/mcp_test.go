package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"straggler/ingest/formats"
	"straggler/ingest/run"
	"straggler/mcp"
	"straggler/report/prose"
	"straggler/report/reporttest"
	"straggler/serve/catalog"
	"straggler/serve/catalog/catalogtest"
	"straggler/store"
)

// opened returns a catalog over labelled logs and, if requested, a trace with hostile names.
func opened(t *testing.T, hostile bool, logs ...string) *catalog.Catalog {
	t.Helper()
	return catalogtest.Open(t, catalogtest.Store(t, hostile, catalogtest.Labelled(t, "..", logs...)...))
}

// connected returns a client of a server over a catalog.
func connected(t *testing.T, c *catalog.Catalog) *sdk.ClientSession {
	t.Helper()
	return connectedWith(t, c, nil)
}

func connectedWith(t *testing.T, c *catalog.Catalog, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	here, there := sdk.NewInMemoryTransports()
	ended := make(chan error, 1)
	go func() { ended <- mcp.New(c, "test").On(ctx, there) }()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o).Connect(ctx, here, nil)
	reporttest.Check(t, err)
	t.Cleanup(func() { session.Close(); cancel(); <-ended })
	return session
}

// reply is an answer as a client reads it.
type reply struct {
	About      string
	Facts      map[string]any
	Caveats    []string
	CannotTell []string `json:"cannot_tell"`
	SQL        string
	Rows       []map[string]any
	From       int
	Total      int
	NextFrom   *int `json:"next_from"`
	text       string
	failed     bool
}

func call(t *testing.T, s *sdk.ClientSession, tool string, arguments map[string]any) reply {
	t.Helper()
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	text := r.Content[0].(*sdk.TextContent).Text
	a := reply{text: text, failed: r.IsError}
	if err := json.Unmarshal([]byte(text), &a); err != nil && !r.IsError {
		t.Fatalf("%s: %v in %s", tool, err, text)
	}
	if len(text) > 16_000 {
		t.Errorf("%s answers with %d bytes", tool, len(text))
	}
	return a
}

// An assistant finds the worst task of the application that lost most, why it was slow, and the SQL that shows it.
func TestConversation(t *testing.T) {
	s := connected(t, opened(t, false, "mixed", "skew"))
	tools, err := s.ListTools(t.Context(), nil)
	reporttest.Check(t, err)
	if len(tools.Tools) != 10 {
		t.Errorf("%d tools", len(tools.Tools))
	}
	for _, tool := range tools.Tools {
		if tool.Annotations == nil || !tool.Annotations.ReadOnlyHint || tool.Description == "" {
			t.Errorf("%s does not say that it only reads", tool.Name)
		}
	}
	apps := call(t, s, "applications", map[string]any{"by": "lost"})
	if apps.Total != 2 {
		t.Fatalf("%s", apps.text)
	}
	one := map[string]any{"application": apps.Rows[0]["application"]}
	r := call(t, s, "report", one)
	if r.Facts["verdict"] == "" || len(r.Rows) == 0 || len(r.Facts["causes"].([]any)) == 0 || len(r.Caveats) == 0 {
		t.Errorf("report: %s", r.text)
	}
	worst := call(t, s, "worst_tasks", one)
	why := call(t, s, "explain_task", map[string]any{"attempt": worst.Rows[0]["attempt"]})
	if why.Facts["cause"] != worst.Rows[0]["cause"] || why.Facts["evidence_from_log"] == nil || !strings.Contains(why.SQL, fmt.Sprint(worst.Rows[0]["attempt"])) {
		t.Errorf("explain_task: %s", why.text)
	}
	sum := 0.0
	for _, c := range why.Facts["causes"].([]any) {
		sum += c.(map[string]any)["seconds"].(float64)
	}
	if excess := why.Facts["excess_s"].(float64); sum < excess-0.01*excess || sum > excess+0.01*excess {
		t.Errorf("the causes sum to %v s of an excess of %v s", sum, excess)
	}
	for _, query := range []string{apps.SQL, r.SQL, worst.SQL, why.SQL, call(t, s, "machines", nil).SQL, call(t, s, "whatif", nil).SQL} {
		if a := call(t, s, "sql", map[string]any{"query": query}); a.failed || len(a.Rows) == 0 {
			t.Errorf("%s: %s", query, a.text)
		}
	}
	if a := call(t, s, "compare", map[string]any{"a": apps.Rows[0]["application"], "b": apps.Rows[1]["application"]}); a.failed || a.Facts["a_from_log"] == nil {
		t.Errorf("compare: %s", a.text)
	}
	if a := call(t, s, "audit", nil); a.failed || len(a.CannotTell) == 0 {
		t.Errorf("audit of two runs cannot tell: %s", a.text)
	}
	if a := call(t, s, "schema", map[string]any{"table": "attempts"}); !strings.Contains(a.text, "duration_s") {
		t.Errorf("schema: %s", a.text)
	}
}

// Before causes have been found nothing can be compared, which is not a failure.
func TestAuditBeforeCauses(t *testing.T) {
	st, err := store.Temp(t.Context())
	reporttest.Check(t, err)
	t.Cleanup(func() { st.Close() })
	_, err = run.Run(t.Context(), st, formats.All(), catalogtest.Labelled(t, "..", "skew"), run.Options{Tool: "test"})
	reporttest.Check(t, err)
	c, err := catalog.Open(t.Context(), catalog.Options{Store: st, Shown: st, Formats: formats.All()})
	reporttest.Check(t, err)
	t.Cleanup(func() { c.Close() })
	if a := call(t, connected(t, c), "audit", nil); a.failed || len(a.CannotTell) != 1 || !strings.Contains(a.CannotTell[0], "ask again later") {
		t.Errorf("%s", a.text)
	}
}

// Long lists are returned in parts, which together are the list.
func TestParts(t *testing.T) {
	s := connected(t, opened(t, true))
	seen, from, calls := 0, 0, 0
	for {
		a := call(t, s, "sql", map[string]any{"query": "SELECT range AS n, repeat('x', 100) AS text FROM range(1200)", "from": from})
		for _, r := range a.Rows {
			if n := r["values_from_log"].([]any)[0].(float64); n != float64(seen) {
				t.Fatalf("row %v after %d", n, seen)
			}
			seen++
		}
		if calls++; a.NextFrom == nil || calls > 50 {
			break
		}
		from = *a.NextFrom
	}
	if seen != 1200 || calls < 5 {
		t.Errorf("%d rows in %d calls", seen, calls)
	}
}

// Mistakes and forbidden statements are answered in a way that an assistant can use.
func TestMistakes(t *testing.T) {
	s := connected(t, opened(t, true))
	for _, c := range []struct {
		tool, want string
		arguments  map[string]any
	}{
		{"sql", "statement not allowed", map[string]any{"query": "COPY (SELECT 1) TO '/tmp/x'"}},
		{"sql", "statement not allowed", map[string]any{"query": "SELECT * FROM read_text('/etc/passwd')"}},
		{"sql", "no_such", map[string]any{"query": "SELECT * FROM no_such"}},
		{"explain_task", "decimal digits", map[string]any{"attempt": "1; DROP TABLE attempts"}},
		{"explain_task", "no such row", map[string]any{"attempt": "77777"}},
		{"report", "no such row", map[string]any{"application": "77777"}},
		{"schema", "no table", map[string]any{"table": "x"}},
	} {
		if a := call(t, s, c.tool, c.arguments); !a.failed || !strings.Contains(a.text, c.want) {
			t.Errorf("%s %v: %s", c.tool, c.arguments, a.text)
		}
	}
}

// Text from logs is only under keys that say so, on one line, without characters that would reorder or hide it.
func TestHostileNames(t *testing.T) {
	s := connected(t, opened(t, true))
	attempt := call(t, s, "worst_tasks", nil).Rows[0]["attempt"]
	found := 0
	for _, c := range []struct {
		tool      string
		arguments map[string]any
	}{
		{"applications", nil}, {"report", nil}, {"report", map[string]any{"application": "1"}}, {"worst_tasks", nil},
		{"explain_task", map[string]any{"attempt": attempt}}, {"machines", nil}, {"whatif", nil},
		{"compare", map[string]any{"a": "1", "b": "1"}}, {"audit", nil}, {"schema", nil},
		{"sql", map[string]any{"query": "SELECT * FROM applications"}}, {"sql", map[string]any{"query": "SELECT native_id AS \"onerror\nx\" FROM attempts"}},
		{"sql", map[string]any{"query": "SELECT onerror FROM attempts"}},
	} {
		a := call(t, s, c.tool, c.arguments)
		var v any
		if err := json.Unmarshal([]byte(a.text), &v); err != nil {
			t.Errorf("%s: %v", c.tool, err)
		}
		found += hostile(t, c.tool, "", false, v)
	}
	if found < 10 {
		t.Errorf("only %d texts of the log were met, so nothing was tested", found)
	}
}

// hostile counts the texts from the log under v, and reports those in the wrong place or form.
func hostile(t *testing.T, tool, path string, marked bool, v any) (found int) {
	switch v := v.(type) {
	case map[string]any:
		for k, child := range v {
			found += hostile(t, tool, path+"."+k, marked || strings.HasSuffix(k, "_from_log"), child)
		}
	case []any:
		for _, child := range v {
			found += hostile(t, tool, path, marked, child)
		}
	case string:
		for _, r := range v {
			if prose.Clean(string(r), 1) != string(r) && r != '\n' {
				t.Errorf("%s%s holds %q", tool, path, r)
				break
			}
		}
		if strings.Contains(v, "alert(") || strings.Contains(v, "onerror") || strings.Contains(v, "evil.example") {
			found++
			if !marked {
				t.Errorf("%s%s is text of a log and does not say so: %q", tool, path, v)
			}
		}
	}
	return found
}

// The same over HTTP.
func TestHTTP(t *testing.T) {
	web := httptest.NewServer(mcp.New(opened(t, true), "test").Handler())
	defer web.Close()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&sdk.StreamableClientTransport{Endpoint: web.URL, DisableStandaloneSSE: true}, nil)
	reporttest.Check(t, err)
	defer session.Close()
	if a := call(t, session, "applications", nil); a.Total != 1 {
		t.Errorf("%s", a.text)
	}
}

// Policies are replayed on one application: progress is reported, requesting more rows does not replay again, and cancelling
// the call ends the replay.
func TestWhatifOfOne(t *testing.T) {
	c := opened(t, false, "mixed", "skew")
	shares := make(chan float64, 10_000)
	s := connectedWith(t, c, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
		shares <- r.Params.Progress
	}})
	apps := call(t, s, "applications", nil)
	one := apps.Rows[0]["application"]
	ask := &sdk.CallToolParams{Name: "whatif", Arguments: map[string]any{"application": one}}
	ask.SetProgressToken("replay")
	r, err := s.CallTool(t.Context(), ask)
	if err != nil || r.IsError {
		t.Fatalf("%v %+v", err, r)
	}
	last := 0.0
	for len(shares) > 0 {
		now := <-shares
		if now <= last || now > 1 {
			t.Errorf("%v of it is done after %v", now, last)
		}
		last = now
	}
	if last == 0 {
		t.Error("its progress was not told")
	}
	again := call(t, s, "whatif", map[string]any{"application": one, "from": 3})
	if n := len(c.Replays()); n != 1 || again.Facts["replay_error_s"] == nil || again.Rows[0]["verdict"] == nil || again.From != 3 {
		t.Errorf("%d replays: %s", n, again.text)
	}
	if a := call(t, s, "whatif", map[string]any{"application": one, "policies": []string{"nonsense"}}); !a.failed {
		t.Errorf("an unknown policy: %s", a.text)
	}
	if a := call(t, s, "whatif", map[string]any{"application": "7"}); !a.failed {
		t.Errorf("an unknown application: %s", a.text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ask = &sdk.CallToolParams{Name: "whatif", Arguments: map[string]any{"application": apps.Rows[1]["application"]}}
	gone := make(chan struct{})
	go func() { s.CallTool(ctx, ask); close(gone) }()
	for len(c.Replays()) < 2 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	<-gone
	for end := time.Now().Add(30 * time.Second); c.Replays()[0].Ended.IsZero(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the replay goes on though nobody waits")
		}
	}
	if r := c.Replays()[0]; !r.Cancelled {
		t.Errorf("%+v", r)
	}
}
