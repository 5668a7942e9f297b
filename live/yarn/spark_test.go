package yarn_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"straggler/live"
	"straggler/live/livetest"
	"straggler/live/rest"
	"straggler/live/sparkrest"
	"straggler/live/yarn"
	"straggler/schema"
)

// manager simulates a resource manager with one Spark application, and its web proxy. The proxy's answers were recorded from
// Hadoop 3.3.6's WebAppProxyServlet: a request under /proxy/ID/ goes to the driver, without headers that are not on a list.
// Before the driver has registered, it is redirected to the manager's page of the application, and after its end to the same
// path under the address that the application left, its page in the History Server. On a secured cluster, a page warns
// everyone but the application's owner, once. A driver that is gone is an error 500 with a page, and an unknown application
// an error 404.
type manager struct {
	*httptest.Server
	driver  *livetest.Server
	state   string // by YARN
	history string // address of a History Server
	secured bool
	warned  int
	dead    bool // the driver does not answer
}

func newManager(tb testing.TB, driver *livetest.Server) *manager {
	m := &manager{driver: driver, state: "ACCEPTED"}
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(404)
		w.Write([]byte("<html>no such page</html>"))
	}))
	tb.Cleanup(pages.Close)
	m.history = pages.URL + "/history/" + app + "/1"
	m.Server = httptest.NewServer(http.HandlerFunc(m.answer))
	tb.Cleanup(m.Close)
	return m
}

func (m *manager) answer(w http.ResponseWriter, r *http.Request) {
	under, proxied := strings.CutPrefix(r.URL.Path, "/proxy/"+app)
	switch {
	case r.URL.Path == "/cluster/app/"+app:
		w.Write([]byte("<html>the page of an application</html>"))
	case r.URL.Path == "/ws/v1/cluster/apps":
		json.NewEncoder(w).Encode(object{"apps": object{"app": []any{m.application()}}})
	case r.URL.Path == "/ws/v1/cluster/apps/"+app:
		json.NewEncoder(w).Encode(object{"app": m.application()})
	case !proxied:
		http.NotFound(w, r)
	case m.state == "ACCEPTED":
		http.Redirect(w, r, "/cluster/app/"+app, http.StatusFound)
	case m.state != "RUNNING":
		to := m.history + under
		if r.URL.RawQuery != "" {
			to += "?" + r.URL.RawQuery
		}
		http.Redirect(w, r, to, http.StatusFound)
	case m.secured && !m.approved(w, r):
		m.warned++
		w.Header().Set("Content-Type", "text/html;charset=utf-8")
		io.WriteString(w, "<html>\n  <h1>\n    WARNING: The following page may not be safe!\n  </h1>\n  <h3>\n    click \n    <a href=\""+r.URL.Path+"?proxyapproved=true\">here</a>\n     to continue to an Application Master web interface owned by \n    etl\n  </h3>\n</html>\n")
	case m.dead:
		w.WriteHeader(500)
		const why = "org.apache.http.conn.HttpHostConnectException: Connect to 10.1.2.3:4040 [/10.1.2.3] failed: Connection refused"
		io.WriteString(w, `{"url":"`+r.URL.Path+`","status":"500","message":"`+why+`"}`)
	default:
		r.URL.Path = under
		r.Header.Del("Authorization")
		m.driver.Config.Handler.ServeHTTP(w, r)
	}
}

// approved reports whether the client has agreed to continue after the warning.
func (m *manager) approved(w http.ResponseWriter, r *http.Request) bool {
	name := "checked_" + app
	cookie, err := r.Cookie(name)
	yes := err == nil && (cookie.Value == "true" || r.URL.Query().Get("proxyapproved") == "true")
	http.SetCookie(w, &http.Cookie{Name: name, Value: fmt.Sprint(yes), Path: "/proxy/" + app, MaxAge: 7200, HttpOnly: true})
	return yes
}

func (m *manager) application() object {
	a := object{"id": app, "name": "nightly", "applicationType": "SPARK", "state": m.state, "finalStatus": "UNDEFINED", "finishedTime": 0}
	if m.state == "FINISHED" {
		a["finalStatus"], a["finishedTime"] = "SUCCEEDED", int64(m.driver.End())/1000
	}
	return a
}

// A Spark application is watched through the manager's proxy from before its driver answers until after its end, when the
// proxy redirects to a History Server. At its driver's own address, which redirects every request to the proxy, the result is
// the same.
func TestSparkThroughTheProxy(t *testing.T) {
	paths, err := filepath.Glob("../../testdata/labelled/clean/*.zstd")
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	trace := livetest.Log(t, paths[0])
	trace.Applications[0].NativeID = app
	driver := livetest.New(t, trace)
	driver.Attempt = "1"
	m := newManager(t, driver)
	o := rest.Options{Pause: time.Nanosecond, Share: 1, Credentials: rest.Credentials{Token: "secret"}}
	s, err := yarn.New(m.URL, "", o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Poll(t.Context()); err == nil || !strings.Contains(err.Error(), "accepted") {
		t.Fatalf("before it runs: %v", err)
	}
	m.state, m.secured = "RUNNING", true
	driver.Set(driver.Start().Add(40))
	st := poll(t, s)
	if m.warned != 1 {
		t.Errorf("the proxy has warned %d times", m.warned)
	}
	m.secured, m.dead = false, true
	if _, err := s.Poll(t.Context()); !errors.Is(err, live.ErrAway) || !strings.Contains(err.Error(), "500 Internal Server Error: Connect to 10.1.2.3:4040") {
		t.Errorf("the driver is gone: %v", err)
	}
	m.dead = false
	direct := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, m.URL+"/proxy/"+app+r.URL.RequestURI(), http.StatusFound)
	}))
	defer direct.Close()
	c, err := rest.New(direct.URL, sparkrest.API, o)
	if err != nil {
		t.Fatal(err)
	}
	same, err := sparkrest.NewSource(c, "").Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if a, b := len(st.Trace.Attempts), len(same.Trace.Attempts); a == 0 || a != b {
		t.Errorf("%d attempts through the manager, %d at the driver's address", a, b)
	}
	m.state = "FINISHED"
	st = poll(t, s)
	if !st.Ended || st.Trace.Applications[0].Status != schema.RunSucceeded || !strings.Contains(strings.Join(st.Notes, " "), "reported by the resource manager") {
		t.Errorf("after its end: ended %t, %s, %q", st.Ended, st.Trace.Applications[0].Status, st.Notes)
	}
}
