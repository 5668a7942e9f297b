package serve_test

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"straggler/report/reporttest"
	"straggler/serve"
	"straggler/serve/catalog"
	"straggler/serve/catalog/catalogtest"
	"straggler/store"
)

// filled returns a store of some labelled logs and of malicious names, with results.
func filled(t testing.TB, logs ...string) *store.Store {
	t.Helper()
	return catalogtest.Store(t, true, catalogtest.Labelled(t, "..", logs...)...)
}

// served returns a server over a store.
func served(t testing.TB, st *store.Store, o serve.Options) (*serve.Server, *catalog.Catalog) {
	t.Helper()
	c := catalogtest.Open(t, st)
	if o.Listen == "" {
		o.Listen = "127.0.0.1:8080"
	}
	s, err := serve.New(c, o)
	reporttest.Check(t, err)
	return s, c
}

// get sends a handler a request like a browser on this machine.
func get(h http.Handler, path string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil)
	r.Host, r.RemoteAddr = "localhost:8080", "127.0.0.1:50000"
	for _, f := range change {
		f(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

var links = regexp.MustCompile(`href="(/[^"]*)"`)

// Every page that can be reached by links answers, is complete, loads nothing from other origins, and shows no name of a log
// as markup; from the list, three clicks lead to the reason why the slowest application was slow.
func TestPages(t *testing.T) {
	s, _ := served(t, filled(t, "mixed", "skew"), serve.Options{Version: "test"})
	h := s.Handler()
	seen, kinds, queued := map[string]bool{"/": true}, map[string]int{}, map[string]int{}
	why := false
	for queue := []string{"/"}; len(queue) > 0; queue = queue[1:] {
		path := queue[0]
		w := get(h, path)
		body := w.Body.String()
		if w.Code != 200 {
			t.Errorf("%s: %d: %s", path, w.Code, body[:min(len(body), 300)])
			continue
		}
		if strings.HasPrefix(path, "/static/") || strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/sql/") {
			continue
		}
		kind := append(strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '?' }), "")[0]
		kinds[kind]++
		if !strings.HasSuffix(body, "</html>\n") || strings.Contains(body, `class="problem"`) {
			t.Errorf("%s is not whole: …%s", path, body[max(0, len(body)-600):])
		}
		for _, bad := range []string{"<script>alert", "<img", "onerror=alert(1)>", "\x1b", "\u202e", `src="http`, `src="//`, `href="http`, `href="//`, "javascript:", "style=\""} {
			if strings.Contains(body, bad) {
				t.Errorf("%s holds %q", path, bad)
			}
		}
		if csp := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'") ||
			strings.Contains(csp, "unsafe") || w.Header().Get("Set-Cookie") != "" {
			t.Errorf("%s: policy %q, cookie %q", path, csp, w.Header().Get("Set-Cookie"))
		}
		why = why || kind == "attempts" && strings.Contains(body, "Verdict: ")
		for _, m := range links.FindAllStringSubmatch(body, -1) {
			link, _, _ := strings.Cut(html.UnescapeString(m[1]), "#")
			next := strings.FieldsFunc(link, func(r rune) bool { return r == '/' || r == '?' })
			if len(next) > 0 && !seen[link] && queued[next[0]] < 5 && !strings.Contains(link, "sort=") {
				queued[next[0]]++
				seen[link] = true
				queue = append(queue, link)
			}
		}
	}
	for _, kind := range []string{"applications", "jobs", "phases", "attempts", "machines", "machine", "logs", "all", "sql", "compare", "policies", "audit"} {
		if kinds[kind] == 0 {
			t.Errorf("no link leads to %s: %v", kind, kinds)
		}
	}
	if !why {
		t.Error("no page of a task says why it was slow")
	}
}

// The list can be searched, filtered and sorted.
func TestApplications(t *testing.T) {
	s, c := served(t, filled(t, "mixed", "skew"), serve.Options{})
	h := s.Handler()
	until(t, c)
	names := func(query string) []string {
		var out []string
		for _, m := range regexp.MustCompile(`href="/applications/(\d+)"`).FindAllStringSubmatch(get(h, "/?"+query).Body.String(), -1) {
			out = append(out, m[1])
		}
		return out
	}
	all := names("")
	up, down := names("sort=lost"), names("sort=-lost")
	slices.Reverse(down)
	if len(all) != 3 || !slices.Equal(up, down) {
		t.Errorf("%d applications; by loss %v and falling, reversed, %v", len(all), up, down)
	}
	if got := names("q=onerror"); len(got) != 1 {
		t.Errorf("one application is named so: %v", got)
	}
	if got := names("q=no-such-application"); len(got) != 0 {
		t.Errorf("none is named so: %v", got)
	}
	if got := names("framework=spark"); len(got) != 2 {
		t.Errorf("two are of Spark: %v", got)
	}
	for _, path := range []string{"/applications/7", "/applications/x", "/jobs/-1", "/phases/99999999999999999999", "/nothing", "/history/x", "/static/x"} {
		if w := get(h, path); w.Code != 404 || !strings.Contains(w.Body.String(), "Not found") {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

// until waits until the losses are summed up.
func until(t *testing.T, c *catalog.Catalog) {
	t.Helper()
	go c.Run(t.Context())
	for range 600 {
		if _, judged := c.Applications(); judged {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("the losses are not added up")
}

// Tests who has access, and from where.
func TestGuard(t *testing.T) {
	st := filled(t)
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	from := func(addr string) func(*http.Request) { return func(r *http.Request) { r.RemoteAddr = addr } }
	method := func(m string) func(*http.Request) { return func(r *http.Request) { r.Method = m } }
	const token = "0123456789abcdef"
	open, _ := served(t, st, serve.Options{})
	locked, _ := served(t, st, serve.Options{Listen: "0.0.0.0:8080", Token: token, Hosts: []string{"straggler.example.com"}})
	behind, _ := served(t, st, serve.Options{Listen: "10.0.0.1:8080", Proxies: proxies("10.0.0.7"), Hosts: []string{"straggler.example.com"}})
	for _, c := range []struct {
		what   string
		s      *serve.Server
		want   int
		change []func(*http.Request)
	}{
		{"localhost", open, 200, nil},
		{"an address of this machine", open, 200, []func(*http.Request){host("[::1]:8080")}},
		{"a name that was made to point here", open, 421, []func(*http.Request){host("evil.example:8080")}},
		{"no name", open, 421, []func(*http.Request){host("")}},
		{"another address", open, 421, []func(*http.Request){host("10.0.0.1")}},
		{"a link from elsewhere", open, 200, []func(*http.Request){header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "navigate")}},
		{"an image of another site", open, 403, []func(*http.Request){header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "no-cors")}},
		{"a form of another site", open, 403,
			[]func(*http.Request){method("POST"), header("Origin", "http://evil.example"), header("Sec-Fetch-Site", "cross-site")}},
		{"a form of another site, from an old browser", open, 403, []func(*http.Request){method("POST"), header("Origin", "http://evil.example")}},
		{"another method", open, 405, []func(*http.Request){method("PUT")}},
		{"no token", locked, 401, []func(*http.Request){host("straggler.example.com")}},
		{"a wrong token", locked, 401, []func(*http.Request){host("straggler.example.com"), header("Authorization", "Bearer 0123456789abcdee")}},
		{"the token", locked, 200, []func(*http.Request){host("straggler.example.com"), header("Authorization", "Bearer "+token)}},
		{"the token as a password", locked, 200, []func(*http.Request){host("192.168.1.5:8080"), func(r *http.Request) { r.SetBasicAuth("me", token) }}},
		{"the token, to a name that is not ours", locked, 421, []func(*http.Request){host("evil.example"), header("Authorization", "Bearer "+token)}},
		{"around the proxy", behind, 403, []func(*http.Request){host("straggler.example.com"), from("10.0.0.8:999")}},
		{"through the proxy", behind, 200, []func(*http.Request){host("straggler.example.com"), from("10.0.0.7:999")}},
	} {
		if w := get(c.s.Handler(), "/", c.change...); w.Code != c.want {
			t.Errorf("%s: %d, not %d", c.what, w.Code, c.want)
		}
	}
	for _, listen := range []string{"0.0.0.0:8080", ":8080", "[::]:80", "10.0.0.1:80", "example.com:80", "8080"} {
		if _, err := serve.New(nil, serve.Options{Listen: listen}); err == nil {
			t.Errorf("%s is open to others without a token", listen)
		}
	}
}

// An existing URL says which methods it allows; another one is not found with any method.
func TestMethods(t *testing.T) {
	s, _ := served(t, filled(t), serve.Options{})
	method := func(m string) func(*http.Request) { return func(r *http.Request) { r.Method = m } }
	for _, m := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "STRANGE"} {
		for path, allow := range map[string]string{"/": "GET, HEAD", "/machines": "GET, HEAD", "/api/v1/applications": "GET, HEAD", "/nothing": "", "/api/v1/nothing": "", "/policies/replay": "POST"} {
			if m == "POST" && allow == "POST" {
				continue
			}
			want := 404
			if allow != "" {
				want = 405
			}
			if w := get(s.Handler(), path, method(m)); w.Code != want || w.Header().Get("Allow") != allow {
				t.Errorf("%s %s: %d, allowed %q", m, path, w.Code, w.Header().Get("Allow"))
			}
		}
	}
	if w := get(s.Handler(), "/policies/replay"); w.Code != 405 || !strings.Contains(w.Body.String(), "but with POST") ||
		!strings.Contains(w.Body.String(), "<h1 class=\"title\">") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// Two applications are compared as by straggler compare.
func TestCompare(t *testing.T) {
	s, c := served(t, filled(t, "mixed", "skew"), serve.Options{})
	apps, _ := c.Applications()
	body := get(s.Handler(), fmt.Sprintf("/compare?a=%d&b=%d", apps[0].ApplicationID, apps[1].ApplicationID)).Body.String()
	if !strings.Contains(body, "What changed") || strings.Count(body, "<tr") < 5 || strings.Count(body, " selected") != 2 {
		t.Errorf("no differences: %s", body[max(0, len(body)-800):])
	}
	if body := get(s.Handler(), "/compare?a=7&b=8").Body.String(); !strings.Contains(body, "no such row") {
		t.Error("applications that are not there are compared")
	}
}

// Savings of policies are shown with their intervals, and an audit of too few runs finds nothing and says why.
func TestPolicies(t *testing.T) {
	s, _ := served(t, filled(t, "mixed"), serve.Options{})
	body := get(s.Handler(), "/policies").Body.String()
	if savings, form := strings.Index(body, `id="t-savings"`), strings.Index(body, `id="replay-title"`); savings < 0 || form < savings || !strings.Contains(body, "late") {
		t.Error("no savings of LATE before the form")
	}
	if body := get(s.Handler(), "/audit").Body.String(); !strings.Contains(body, "no program has 5 earlier runs") || !strings.Contains(body, "mixed") {
		t.Error("the audit does not say what it judges, and by how many runs")
	}
}

// The queries of an application lead to their losses and jobs, and a job leads back to its query.
func TestQueries(t *testing.T) {
	s, _ := served(t, catalogtest.Store(t, false, filepath.Join("..", "plans", "testdata", "spark3-aqe-on.zstd")), serve.Options{})
	h := s.Handler()
	follow := func(path, link string) string {
		t.Helper()
		w := get(h, path)
		found := regexp.MustCompile(`href="(` + link + `\d+)"`).FindStringSubmatch(w.Body.String())
		if w.Code != 200 || found == nil || strings.Contains(w.Body.String(), `class="problem"`) {
			t.Fatalf("%s (%d) has no link to %s…: %s", path, w.Code, link, w.Body)
		}
		return found[1]
	}
	application := follow("/", "/applications/")
	query := follow(application, "/queries/")
	job := follow(query, "/jobs/")
	body := get(h, query).Body.String()
	if !strings.Contains(body, "What it lost, and why") || !strings.Contains(body, "<svg") {
		t.Errorf("%s does not show its plan", query)
	}
	if back := follow(job, "/queries/"); back != query {
		t.Errorf("%s leads to %s and not to %s", job, back, query)
	}
	phase := follow(job, "/phases/")
	follow(phase, "/queries/")
	follow(follow(phase, "/attempts/"), "/queries/")
	for _, m := range regexp.MustCompile(`href="(/queries/\d+)"`).FindAllStringSubmatch(get(h, application).Body.String(), -1) {
		if !strings.Contains(get(h, m[1]).Body.String(), `class="plan`) {
			t.Errorf("%s draws no plan", m[1])
		}
	}
	if w := get(h, "/queries/7"); w.Code != 404 {
		t.Errorf("a query that is not there: %d", w.Code)
	}
}

// A reader replays policies from the page, and sees progress and results; only the form can start a replay.
func TestReplay(t *testing.T) {
	s, c := served(t, filled(t, "mixed"), serve.Options{})
	h := s.Handler()
	post := func(path string, form url.Values, change ...func(*http.Request)) *httptest.ResponseRecorder {
		return get(h, path, append([]func(*http.Request){func(r *http.Request) {
			r.Method, r.Body = "POST", io.NopCloser(strings.NewReader(form.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}}, change...)...)
	}
	form := url.Values{"policy": {"late", "spark"}, "settings": {"late.cap=0.2"}, "seeds": {"2"}}
	if w := get(h, "/policies/replay?"+form.Encode()); w.Code == http.StatusSeeOther || len(c.Replays()) != 0 {
		t.Errorf("a link starts a replay: %d", w.Code)
	}
	foreign := func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }
	if w := post("/policies/replay", form, foreign); w.Code != http.StatusForbidden || len(c.Replays()) != 0 {
		t.Errorf("a form of another site starts a replay: %d", w.Code)
	}
	if w := post("/policies/replay", url.Values{"policy": {"<script>alert(1)</script>"},
		"seeds": {"2"}}); w.Code != http.StatusBadRequest || strings.Contains(w.Body.String(), "<script>alert") {
		t.Errorf("an unknown policy: %d %s", w.Code, w.Body)
	}
	if w := post("/policies/replay", form); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/policies" {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	for range 600 {
		if strings.Contains(get(h, "/api/v1/replays").Body.String(), `"state":"done"`) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	asDescribed(t, h, "/replays", "/replays", 200)
	body := get(h, "/policies").Body.String()
	for _, want := range []string{`id="replay-1"`, "late, spark with late.cap=0.2, 2", `class="sub">cap=0.2`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not show %s", want)
		}
	}
}

// Policies are replayed on one application from its page, which shows these replays and no others.
func TestReplayOfOne(t *testing.T) {
	s, c := served(t, filled(t, "mixed", "skew"), serve.Options{})
	h := s.Handler()
	post := func(form url.Values) *httptest.ResponseRecorder {
		return get(h, "/policies/replay", func(r *http.Request) {
			r.Method, r.Body = "POST", io.NopCloser(strings.NewReader(form.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		})
	}
	apps, _ := c.Applications()
	var pages []string
	for _, a := range apps[:2] {
		pages = append(pages, fmt.Sprintf("/applications/%d", a.ApplicationID))
	}
	if !strings.Contains(get(h, pages[0]).Body.String(), `href="`+pages[0]+`/policies"`) {
		t.Error("the page of the application does not lead to its policies")
	}
	for k, code := range map[string]int{"7": 404, "x": 400, "-1": 400} {
		if w := post(url.Values{"application": {k}, "seeds": {"2"}}); w.Code != code || len(c.Replays()) != 0 {
			t.Errorf("application %s: %d", k, w.Code)
		}
	}
	field := regexp.MustCompile(`name="application" value="(\d+)"`).FindStringSubmatch(get(h, pages[0]+"/policies").Body.String())
	if len(field) != 2 {
		t.Fatal("the form names no application")
	}
	if w := post(url.Values{"application": {field[1]}, "policy": {"late"}, "seeds": {"2"}}); w.Code != http.StatusSeeOther ||
		w.Header().Get("Location") != pages[0]+"/policies" {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	for range 600 {
		if strings.Contains(get(h, "/api/v1/replays").Body.String(), `"application":"`+field[1]+`","state":"done"`) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if r := c.Replays()[0]; r.Summary == nil || r.Summary.Jobs == 0 {
		t.Fatalf("%+v", r)
	}
	for path, want := range map[string]bool{pages[0] + "/policies": true, pages[1] + "/policies": false, "/policies": true} {
		if strings.Contains(get(h, path).Body.String(), `id="replay-1"`) != want {
			t.Errorf("%s shows the replay: not %v", path, want)
		}
	}
}

// Assistants are checked as strictly as browsers.
func TestAssistants(t *testing.T) {
	st := filled(t)
	without, _ := served(t, st, serve.Options{})
	with, _ := served(t, st, serve.Options{MCP: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })})
	post := func(r *http.Request) { r.Method = "POST" }
	foreign := func(r *http.Request) { r.Host = "evil.example" }
	if w := get(without.Handler(), "/mcp", post); w.Code != 404 {
		t.Errorf("a server without tools answers %d", w.Code)
	}
	if w := get(with.Handler(), "/mcp", post); w.Code != http.StatusAccepted {
		t.Errorf("a server with tools answers %d", w.Code)
	}
	if w := get(with.Handler(), "/mcp", post, foreign); w.Code != http.StatusMisdirectedRequest {
		t.Errorf("to a name that is not ours it answers %d", w.Code)
	}
}

// A server that is stopped answers pending requests.
func TestServe(t *testing.T) {
	s, _ := served(t, filled(t), serve.Options{})
	ctx, cancel := contextOf(t)
	l := listener(t)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	r, err := http.Get(fmt.Sprintf("http://%s/", l.Addr()))
	reporttest.Check(t, err)
	cancel()
	body, err := io.ReadAll(r.Body)
	r.Body.Close()
	if err != nil || !strings.HasSuffix(string(body), "</html>\n") {
		t.Errorf("%v: a page was cut: %d bytes", err, len(body))
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
