package serve_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"straggler/report/reporttest"
	"straggler/serve"
)

// openBrowser starts a browser, or skips the test, and records its pages' errors and requests to other origins.
func openBrowser(t *testing.T, origin string) (ctx context.Context, complaints func() []string) {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" && reporttest.Required("chromium") {
		t.Fatal("no chromium on the PATH, and STRAGGLER_REQUIRE asks for it")
	}
	if path == "" {
		t.Skip("no chromium on the PATH")
	}
	alloc, stop := chromedp.NewExecAllocator(context.Background(),
		append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Flag("disable-gpu", true))...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(cancel)
	reporttest.Check(t, chromedp.Do(ctx))
	ctx, cancel = context.WithTimeout(ctx, 10*time.Minute)
	t.Cleanup(cancel)
	var mu sync.Mutex
	var noted []string
	note := func(s string) { mu.Lock(); defer mu.Unlock(); noted = append(noted, s) }
	reporttest.Check(t, chromedp.Listen(ctx, func(ev any) {
		switch e := ev.(type) {
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, origin) {
				note("it asked for " + e.Request.URL)
			}
		case *runtime.EventConsoleAPICalled:
			note("console: " + string(e.Type))
		case *runtime.EventExceptionThrown:
			note("exception: " + e.ExceptionDetails.Text)
		case *cdplog.EventEntryAdded: // such as violations of the content security policy
			note("log: " + e.Entry.Text + " " + e.Entry.URL)
		}
	}))
	return ctx, func() []string { mu.Lock(); defer mu.Unlock(); return append([]string(nil), noted...) }
}

func evaluate[T any](t *testing.T, ctx context.Context, js string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js))
	if err != nil {
		t.Fatalf("%s: %v", js, err)
	}
	return v
}

// waitFor waits until an expression is true in the page. A page that navigates away during the check does not count.
func waitFor(t *testing.T, ctx context.Context, js string) {
	t.Helper()
	var last error
	for range 600 {
		is, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+js+")"))
		if is && err == nil {
			return
		}
		last = err
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("never true: %s (%v)", js, last)
}

// click follows the link that an expression returns, and waits for its page.
func click(t *testing.T, ctx context.Context, link string) {
	t.Helper()
	evaluate[bool](t, ctx, `(function () { window.leaving = true; var a = `+link+`; if (!a) { throw new Error("no such link"); } a.click(); return true; })()`)
	waitFor(t, ctx, `!window.leaving && document.readyState === "complete" && document.querySelector("footer")`)
}

// A new user opens a store of malicious and normal logs, finds in three clicks why the slowest application was slow, runs a
// query, and gets its link; at the width of a desktop and of a phone, light and dark. Nothing is loaded from other origins,
// no name from a log is executed, and the browser's console stays empty. TestEveryPageIsAccessible checks the pages with axe.
func TestBrowser(t *testing.T) {
	st := filled(t, "mixed", "skew")
	s, c := served(t, st, serve.Options{Version: "test"})
	until(t, c)
	web := httptest.NewServer(s.Handler())
	defer web.Close()
	ctx, complaints := openBrowser(t, web.URL)
	for _, size := range []struct {
		name, scheme  string
		width, height int64
	}{{"desk", "light", 1280, 900}, {"phone", "dark", 390, 844}} {
		reporttest.Check(t, chromedp.Do(ctx, chromedp.EmulateViewport(size.width, size.height)))
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia,
			emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: size.scheme}}})
		reporttest.Check(t, err)
		reporttest.Check(t, chromedp.Do(ctx, chromedp.Navigate(web.URL+"/?sort=-lost")))
		fits := func(where string) {
			t.Helper()
			if w := evaluate[int](t, ctx, `document.documentElement.scrollWidth - innerWidth`); w > 0 {
				t.Errorf("%s: %s is %d pixels too wide", size.name, where, w)
			}
		}
		accessible := func(where string) {
			t.Helper()
			for _, v := range axe(t, ctx) {
				t.Errorf("%s: %s: %s", size.name, where, v)
			}
		}
		fits("the list")
		// of two that lost time, the one that lost most; malicious names lost more
		click(t, ctx, `document.querySelector("#applications tbody a")`)
		fits("the application")
		if v := evaluate[string](t, ctx, `document.querySelector(".verdict").textContent`); !strings.Contains(v, "cost") {
			t.Errorf("the headline is %q", v)
		}
		click(t, ctx, `document.querySelector('a[href$="/timeline"]')`)
		zoomed(t, ctx)
		fits("the timeline")
		accessible("the timeline, zoomed")
		click(t, ctx, `document.querySelector('.crumbs a[href^="/applications/"]')`)
		click(t, ctx, `document.querySelector("#t-outliers tbody a")`)
		fits("the task")
		if v := evaluate[string](t, ctx, `document.querySelector("section").textContent`); !strings.Contains(v, "Verdict: ") {
			t.Errorf("the page of the worst task says %q", v)
		}
		click(t, ctx, `document.querySelector('.crumbs a[href^="/phases/"]')`)
		fits("the phase")
		click(t, ctx, `document.querySelector('.crumbs a[href^="/jobs/"]')`)
		fits("the job")
		click(t, ctx, `document.querySelector('nav a[href="/machines"]')`)
		fits("the machines")
		for _, at := range []string{"policies", "audit", "logs"} {
			click(t, ctx, `document.querySelector('nav a[href="/`+at+`"]')`)
			fits("the page /" + at)
		}
		click(t, ctx, `document.querySelector('nav a[href="/sql"]')`)
		console(t, ctx)
		fits("the console")
		accessible("the console after a query")
	}
	for _, m := range complaints() {
		t.Error(m)
	}
}

// Every entry of the navigation is visible without scrolling sideways, at the widths of a desktop, half a desktop and a
// phone.
func TestNavigationIsInSight(t *testing.T) {
	s, _ := served(t, filled(t), serve.Options{})
	web := httptest.NewServer(s.Handler())
	defer web.Close()
	ctx, _ := openBrowser(t, web.URL)
	for _, width := range []int64{1280, 740, 610, 500, 360} {
		reporttest.Check(t, chromedp.Do(ctx, chromedp.EmulateViewport(width, 700), chromedp.Navigate(web.URL+"/logs")))
		hidden := evaluate[string](t, ctx, `[...document.querySelectorAll(".top nav a")].filter(a => { const r = a.getBoundingClientRect(), n = a.closest("nav").getBoundingClientRect(); return r.right > n.right || r.right > innerWidth || r.bottom > n.bottom }).map(a => a.textContent).join(", ")`)
		if hidden != "" {
			t.Errorf("at %d pixels %s are out of sight", width, hidden)
		}
	}
}

// zoomed zooms and pans a timeline with keys, a drag and a button. The URL is that of the window, and marked attempts lead to
// their pages.
func zoomed(t *testing.T, ctx context.Context) {
	t.Helper()
	key := func(k string) {
		t.Helper()
		evaluate[bool](t, ctx, `(function () { var p = document.getElementById("picture"); delete p.dataset.ready; p.dispatchEvent(new KeyboardEvent("keydown", { key: "`+k+`", cancelable: true })); return true; })()`)
	}
	span := func() float64 {
		t.Helper()
		waitFor(t, ctx, `document.getElementById("picture").dataset.ready`)
		return evaluate[float64](t, ctx, `(function () { var q = new URLSearchParams(location.search); return Number(q.get("to")) - Number(q.get("from")); })()`)
	}
	if whole := span(); whole != 0 {
		t.Errorf("the whole timeline has the window %v in its address", whole)
	}
	key("+")
	once := span()
	key("+")
	twice := span()
	if once <= 0 || twice < 0.49*once || twice > 0.51*once {
		t.Errorf("zoomed in to %v s and then %v s", once, twice)
	}
	from := evaluate[float64](t, ctx, `Number(new URLSearchParams(location.search).get("from"))`)
	evaluate[bool](t, ctx, `(function () { var p = document.getElementById("picture"); delete p.dataset.ready; p.setPointerCapture = function () {};
		[["pointerdown", 300], ["pointermove", 250], ["pointermove", 200], ["pointerup", 200]].forEach(function (e) { p.dispatchEvent(new PointerEvent(e[0], { pointerId: 1, clientX: e[1], clientY: 300, button: 0 })); }); return true; })()`)
	if s := span(); s < twice-0.01 || s > twice+0.01 || evaluate[float64](t, ctx, `Number(new URLSearchParams(location.search).get("from"))`) <= from {
		t.Errorf("a drag to the left did not show what is later: %v s", s)
	}
	evaluate[bool](t, ctx, `(function () { var p = document.getElementById("picture"); delete p.dataset.ready; document.querySelector("#tools [value=whole]").click(); return true; })()`)
	if s := span(); s != 0 {
		t.Errorf("the whole timeline again has the window %v", s)
	}
	key("n")
	if said := evaluate[string](t, ctx, `document.getElementById("mark").textContent`); !strings.Contains(said, "task") {
		t.Errorf("the first mark is %q", said)
	}
	if evaluate[int](t, ctx, `document.querySelectorAll('#marked a[href^="/attempts/"]').length`) == 0 || evaluate[int](t, ctx, `document.querySelectorAll("#legend [data-cause]:not([hidden])").length`) == 0 {
		t.Error("nothing is marked")
	}
}

// console types a query with the help of completion and runs it.
func console(t *testing.T, ctx context.Context) {
	t.Helper()
	waitFor(t, ctx, `document.querySelectorAll("#tables details").length > 20`)
	evaluate[bool](t, ctx, `(function () { var q = document.getElementById("q"); q.focus(); q.value = "SELECT cause, sum(seconds) AS seconds FROM attrib"; q.setSelectionRange(q.value.length, q.value.length); q.dispatchEvent(new Event("input")); return true; })()`)
	waitFor(t, ctx, `!document.getElementById("proposals").hidden`)
	evaluate[bool](t, ctx, `(function () { var q = document.getElementById("q"); q.dispatchEvent(new KeyboardEvent("keydown", { key: "Tab", cancelable: true })); q.setRangeText(" GROUP BY cause ORDER BY seconds DESC", q.value.length, q.value.length, "end"); return true; })()`)
	if q := evaluate[string](t, ctx, `document.getElementById("q").value`); !strings.Contains(q, "FROM attributions GROUP") {
		t.Errorf("completion made %q", q)
	}
	evaluate[bool](t, ctx, `(function () { window.leaving = true; document.getElementById("q").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, cancelable: true })); return true; })()`)
	waitFor(t, ctx, `!window.leaving && document.readyState === "complete" && document.querySelectorAll("#result tbody tr").length > 1 && document.querySelector(".barplot rect")`)
	if at := evaluate[string](t, ctx, `location.search`); !strings.Contains(at, "attributions") {
		t.Errorf("the address %q does not hold the query", at)
	}
	waitFor(t, ctx, `!document.getElementById("history").hidden`)
}

// axe runs axe-core on the page, if STRAGGLER_AXE names its file, and returns what it finds. Its time
// grows with elements, so of each table and drawing it sees the first twelve rows and shapes; further ones are like them.
func axe(t *testing.T, ctx context.Context) []string {
	t.Helper()
	file := os.Getenv("STRAGGLER_AXE")
	if file == "" {
		if reporttest.Required("axe") {
			t.Fatal("STRAGGLER_AXE names no file, and STRAGGLER_REQUIRE asks for it")
		}
		return nil
	}
	source, err := os.ReadFile(file)
	reporttest.Check(t, err)
	evaluate[bool](t, ctx, string(source)+"\n;true")
	evaluate[bool](t, ctx, `(function () { document.querySelectorAll("tbody > tr:nth-child(n+13), svg *:nth-child(n+13)").forEach(function (r) { r.remove(); }); return true; })()`)
	evaluate[bool](t, ctx, `(function () { window.found = null; axe.run(document, { resultTypes: ["violations"] }).then(function (r) {
		window.found = r.violations.map(function (v) { return v.id + " (" + v.impact + "): " + v.nodes.slice(0, 3).map(function (n) { return n.html.slice(0, 160); }).join(" | "); }); }, function (e) { window.found = [String(e)]; }); return true; })()`)
	waitFor(t, ctx, `window.found`)
	return evaluate[[]string](t, ctx, `window.found`)
}

// resident returns the memory of the process; 0 if the system does not say.
func resident() int64 {
	text, _ := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// Two hundred simultaneous clients are all answered, within bounded memory.
func TestManyClients(t *testing.T) {
	s, _ := served(t, filled(t), serve.Options{})
	web := httptest.NewServer(s.Handler())
	defer web.Close()
	client := web.Client()
	paths := []string{"/", "/applications/1", "/jobs/1", "/api/v1/status", "/sql?q=SELECT+count(*)+FROM+attempts", "/logs"}
	before := resident()
	var wg sync.WaitGroup
	failed := make(chan error, 200*5)
	for i := range 200 {
		wg.Go(func() {
			for k := range 5 {
				r, err := client.Get(web.URL + paths[(i+k)%len(paths)])
				if err == nil {
					r.Body.Close()
					if r.StatusCode != 200 {
						err = fmt.Errorf("%s: %s", r.Request.URL.Path, r.Status)
					}
				}
				if err != nil {
					failed <- err
				}
			}
		})
	}
	wg.Wait()
	close(failed)
	// The engines may use a quarter of the machine's memory together; for this store of a few rows they and the answers take
	// far less.
	if grown := resident() - before; grown > 1<<30 {
		t.Errorf("it holds %d MB more than before", grown>>20)
	}
	for err := range failed {
		t.Error(err)
	}
}
