package serve_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"straggler/serve"
)

// The console runs what straggler sql runs and nothing else, shows rows by pages, and lets all of them be downloaded.
func TestConsole(t *testing.T) {
	s, _ := served(t, filled(t), serve.Options{})
	h := s.Handler()
	ask := func(sql string, change ...func(*http.Request)) string {
		return get(h, "/sql?q="+url.QueryEscape(sql), change...).Body.String()
	}
	body := ask("SELECT 'm' || range AS machine, range * 1.5 AS factor FROM range(500)")
	if !strings.Contains(body, "rows 1 to 200") || !strings.Contains(body, "from=200") || strings.Contains(body, "from=0") {
		t.Error("no first page of 200 rows")
	}
	body = get(h, "/sql?from=400&q="+url.QueryEscape("SELECT range AS n FROM range(500)")).Body.String()
	if !strings.Contains(body, "rows 401 to 500") || strings.Contains(body, "Next →") {
		t.Error("no last page of 100 rows")
	}
	body = ask("SELECT 'm' || range AS machine, range - 2 AS factor FROM range(5)")
	if !strings.Contains(body, "factor by machine") || strings.Count(body, "<rect x=") != 5 {
		t.Error("no chart of five bars")
	}
	if body := ask("SELECT native_id FROM applications"); strings.Contains(body, "<script>alert") || !strings.Contains(body, "&lt;script&gt;alert") {
		t.Error("the name of an application is markup")
	}
	for _, sql := range []string{"COPY (SELECT 1) TO '/tmp/x'", "SELECT * FROM read_text('/etc/passwd')", "DROP TABLE attempts", "SELECT 1; SELECT 2", "ATTACH '/tmp/x'", "SET threads = 1", "SELECT * FROM no_such_table", "SELEC"} {
		if body := ask(sql); !strings.Contains(body, "The query failed") || strings.Contains(body, "rows 1 to") {
			t.Errorf("%s: it was run", sql)
		}
		if w := get(h, "/sql/rows.csv?q="+url.QueryEscape(sql)); w.Code == 200 {
			t.Errorf("%s: its rows can be taken away", sql)
		}
	}
	linked := func(r *http.Request) {
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Sec-Fetch-Mode", "navigate")
	}
	if body := ask("SELECT 42 AS answer", linked); strings.Contains(body, "rows 1 to") || !strings.Contains(body, "SELECT 42 AS answer") {
		t.Error("another site's link ran a query")
	}
	for file, want := range map[string]string{"rows.csv": "n,t\n0,a\n1,a\n", "rows.json": "[\n{\"n\":0,\"t\":\"a\"},\n{\"n\":1,\"t\":\"a\"}\n]\n", "rows.parquet": "PAR1"} {
		w := get(h, "/sql/"+file+"?q="+url.QueryEscape("SELECT range AS n, 'a' AS t FROM range(2)"))
		if w.Code != 200 || !strings.HasPrefix(w.Body.String(), want) || !strings.Contains(w.Header().Get("Content-Disposition"), file) {
			t.Errorf("%s: %d %q", file, w.Code, w.Body.String())
		}
	}
	var tables []struct {
		Name    string
		Columns []struct{ Name string }
	}
	if err := json.Unmarshal(get(h, "/api/v1/schema").Body.Bytes(), &tables); err != nil || len(tables) < 20 || len(tables[0].Columns) == 0 {
		t.Errorf("the schema has %d tables: %v", len(tables), err)
	}
}

// A query ends when the browser that requested it disconnects.
func TestConsoleCancelled(t *testing.T) {
	s, _ := served(t, filled(t), serve.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	sql := "SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE a.range * b.range % 7 = 3"
	get(s.Handler(), "/sql?q="+url.QueryEscape(sql), func(r *http.Request) { *r = *r.WithContext(ctx) })
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it ran for %v", took)
	}
	if body := get(s.Handler(), "/sql?q=SELECT+42+AS+answer").Body.String(); !strings.Contains(body, "rows 1 to 1") {
		t.Error("the next query does not run")
	}
}
