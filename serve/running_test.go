package serve_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"straggler/live"
	"straggler/live/livetest"
	"straggler/live/rest"
	"straggler/report/reporttest"
	"straggler/schema"
	"straggler/serve"
	"straggler/serve/catalog"
	"straggler/serve/catalog/catalogtest"
	"straggler/serve/running"
	"straggler/store"
	"straggler/whatif/policy"
)

// replayed returns a server that follows a recorded application, played back by a driver, and keeps what was seen at its end.
func replayed(t *testing.T, log string) (*httptest.Server, *livetest.Server, *running.Board) {
	t.Helper()
	trace := livetest.Log(t, catalogtest.Labelled(t, "..", log)[0])
	for i := range trace.Phases {
		trace.Phases[i].Name = schema.Some(reporttest.Hostile)
	}
	driver := livetest.New(t, trace)
	driver.Heartbeat = 1
	endpoint, err := running.Spark(driver.URL, "", rest.Options{Pause: time.Millisecond})
	reporttest.Check(t, err)
	web, b := following(t, endpoint)
	return web, driver, b
}

// following returns a server that follows what runs at an endpoint, and keeps what was seen at its end.
func following(t *testing.T, endpoint running.Endpoint) (*httptest.Server, *running.Board) {
	t.Helper()
	policies, err := policy.Choose([]string{"late", "mantri"}, nil, nil, nil)
	reporttest.Check(t, err)
	st, err := store.Temp(t.Context())
	reporttest.Check(t, err)
	t.Cleanup(func() { st.Close() })
	c := changing(t, st, catalog.Options{})
	t.Cleanup(func() { c.Close() })
	b := running.New(running.Options{Endpoints: []running.Endpoint{endpoint}, Policies: policies, Every: 50 * time.Millisecond,
		Settling: time.Second, Keep: func(ctx context.Context, last *live.State) error {
			return c.Change(ctx, func(ctx context.Context, st *store.Store) error { return live.Keep(ctx, st, last, "test") })
		}})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { b.Run(ctx) })
	t.Cleanup(func() { cancel(); wg.Wait() })
	s, err := serve.New(c, serve.Options{Listen: "127.0.0.1:8080", Version: "test", Running: b})
	reporttest.Check(t, err)
	web := httptest.NewServer(s.Handler())
	t.Cleanup(web.Close)
	return web, b
}

// whenSlow plays the application until a policy has decided about one of its slow tasks, and returns its id.
func whenSlow(t *testing.T, driver *livetest.Server, b *running.Board) string {
	t.Helper()
	for at := driver.Start().Add(1); at < driver.End(); at = at.Add(1) {
		driver.Set(at)
		id, decided := nextDecided(t, b)
		if decided {
			// the clock may have been set while the application was read: what was slow a second before can have ended
			id, decided = nextDecided(t, b)
		}
		if decided {
			return id
		}
	}
	t.Fatal("nothing was slow")
	return ""
}

// nextDecided waits until the application is seen again, and reports whether a policy has decided about one of its slow tasks.
func nextDecided(t *testing.T, b *running.Board) (id string, decided bool) {
	t.Helper()
	asked := time.Now()
	for end := asked.Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if list := b.Applications(); len(list) == 1 && list[0].Seen.After(asked) {
			for i := range list[0].Frame.Slow {
				if len(list[0].Would(&list[0].Frame.Slow[i])) > 0 {
					return list[0].ID, true
				}
			}
			return list[0].ID, false
		}
	}
	t.Fatal("for a minute the application was not seen")
	return "", false
}

// A running application is listed, and has a page with its slow tasks, their causes and what policies would do; the API has
// the same. After its end, its URL leads to its usual page.
func TestRunning(t *testing.T) {
	web, driver, b := replayed(t, "skew")
	id := whenSlow(t, driver, b)
	h := web.Config.Handler
	if body := get(h, "/").Body.String(); !strings.Contains(body, `href="/running/`+id+`"`) {
		t.Error("the list of applications has no link to the one that runs")
	}
	w := get(h, "/running/"+id)
	for _, want := range []string{"slow; likely cause", "Expected end", `class="letter"`, ">mantri: ", "</html>"} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("the page lacks %q: %s", want, w.Body)
		}
	}
	if part := get(h, "/running/"+id+"?part=1").Body.String(); strings.Contains(part, "<html") || strings.Count(part, "data-part") != 6 {
		t.Errorf("what is refreshed: %s", part)
	}
	var list []struct {
		ID        string
		SlowTasks []struct {
			Cause    string
			Policies []string
		}
	}
	asDescribed(t, h, "/running", "/running", 200)
	reporttest.Check(t, json.Unmarshal(get(h, "/api/v1/running").Body.Bytes(), &list))
	if len(list) != 1 || list[0].ID != id || len(list[0].SlowTasks) == 0 || list[0].SlowTasks[0].Cause == "" {
		t.Errorf("the API says %+v", list)
	}
	driver.Set(driver.End())
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		w := get(h, "/running/"+id)
		if w.Code == 302 && w.Header().Get("Location") == "/history/"+id {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("a minute after its end: %d %s", w.Code, w.Body)
		}
	}
	if w := get(h, "/history/"+id); w.Code != 302 || !strings.HasPrefix(w.Header().Get("Location"), "/applications/") {
		t.Errorf("the permanent address: %d %s", w.Code, w.Body)
	}
	if w := get(h, "/running/nothing"); w.Code != 404 {
		t.Errorf("what does not run: %d", w.Code)
	}
}

// In a browser the page of a running application updates itself without moving the reader; at the end it becomes the usual
// page.
func TestRunningInBrowser(t *testing.T) {
	web, driver, b := replayed(t, "skew")
	ctx, complaints := openBrowser(t, web.URL)
	id := whenSlow(t, driver, b)
	reporttest.Check(t, chromedp.Do(ctx, chromedp.EmulateViewport(390, 844)))
	reporttest.Check(t, chromedp.Do(ctx, chromedp.Navigate(web.URL+"/")))
	click(t, ctx, `document.querySelector('#running a[href="/running/`+id+`"]')`)
	if w := evaluate[int](t, ctx, `document.documentElement.scrollWidth - innerWidth`); w > 0 {
		t.Errorf("the page is %d pixels too wide", w)
	}
	for _, v := range axe(t, ctx) {
		t.Error(v)
	}
	before := evaluate[string](t, ctx, `(function () { document.getElementById("part-decisions").scrollIntoView(); return document.getElementById("part-time").textContent; })()`)
	top := `Math.round(document.getElementById("part-decisions").getBoundingClientRect().top)`
	at := evaluate[int](t, ctx, top)
	driver.Set(b.Application(id).Frame.Now.Add(1))
	waitFor(t, ctx, `document.getElementById("part-time").textContent !== `+quoted(before))
	if now := evaluate[int](t, ctx, top); now < at-1 || now > at+1 {
		t.Errorf("what was read stood at %d and stands at %d", at, now)
	}
	evaluate[bool](t, ctx, `window.leaving = true`)
	driver.Set(driver.End())
	waitFor(t, ctx, `!window.leaving && location.pathname.indexOf("/applications/") === 0 && document.querySelector(".verdict")`)
	for _, m := range complaints() {
		t.Error(m)
	}
}

func quoted(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}
