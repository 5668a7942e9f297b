package serve_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"straggler/live/livetest"
	"straggler/live/rest"
	"straggler/report/reporttest"
	"straggler/serve/catalog/catalogtest"
	"straggler/serve/running"
)

// within waits until a page satisfies a condition.
func within(t *testing.T, h http.Handler, path string, says func(code int, body string) bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		w := get(h, path)
		if says(w.Code, w.Body.String()) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s after two minutes: %d %s", path, w.Code, w.Body)
		}
	}
}

// A Spark application listed by a resource manager is watched through the manager's proxy: it is in the list, its page has
// its slow tasks, and its URL leads to its usual page after it has ended.
func TestRunningOnYARN(t *testing.T) {
	const id = "application_1795371305756_0001"
	trace := livetest.Log(t, catalogtest.Labelled(t, "..", "skew")[0])
	trace.Applications[0].NativeID = id
	driver := livetest.New(t, trace)
	driver.Heartbeat = 1
	var finished atomic.Bool
	manager := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		app := map[string]any{"id": id, "name": "nightly", "applicationType": "SPARK", "state": "RUNNING", "finalStatus": "UNDEFINED", "finishedTime": 0}
		if finished.Load() {
			app["state"], app["finalStatus"], app["finishedTime"] = "FINISHED", "SUCCEEDED", int64(driver.End())/1000
		}
		under, proxied := strings.CutPrefix(r.URL.Path, "/proxy/"+id)
		switch {
		case r.URL.Path == "/ws/v1/cluster/apps":
			json.NewEncoder(w).Encode(map[string]any{"apps": map[string]any{"app": []any{app}}})
		case r.URL.Path == "/ws/v1/cluster/apps/"+id:
			json.NewEncoder(w).Encode(map[string]any{"app": app})
		case proxied && !finished.Load():
			r.URL.Path = under
			driver.Config.Handler.ServeHTTP(w, r)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(manager.Close)
	endpoint, err := running.YARN(manager.URL, "", rest.Options{Pause: time.Millisecond})
	reporttest.Check(t, err)
	web, b := following(t, endpoint)
	h := web.Config.Handler
	if got := whenSlow(t, driver, b); got != id {
		t.Fatalf("%s runs", got)
	}
	if body := get(h, "/").Body.String(); !strings.Contains(body, `href="/running/`+id+`"`) {
		t.Error("the list of applications has no link to the one that runs")
	}
	within(t, h, "/running/"+id, func(_ int, body string) bool {
		return strings.Contains(body, "slow; likely cause") && strings.Contains(body, ">mantri: ")
	})
	driver.Set(driver.End())
	within(t, h, "/running/"+id, func(code int, _ string) bool { finished.Store(true); return code == 302 })
	within(t, h, "/history/"+id, func(code int, _ string) bool { return code == 302 })
}
