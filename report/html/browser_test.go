package html

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
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
)

// chromium finds a browser, or skips the test.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if reporttest.Required("chromium") {
		t.Fatal("no chromium on the PATH, and STRAGGLER_REQUIRE asks for it")
	}
	t.Skip("no chromium on the PATH")
	return ""
}

// watched records the faults of a page.
type watched struct {
	mu       sync.Mutex
	requests []string
	messages []string
}

func (w *watched) note(to *[]string, s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*to = append(*to, s)
}

// openBrowser starts a browser, and records its pages' requests and errors.
func openBrowser(t *testing.T) (context.Context, *watched) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.NoSandbox,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-gpu", true))
	alloc, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(cancel)
	reporttest.Check(t, chromedp.Do(ctx))
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	w := &watched{}
	reporttest.Check(t, chromedp.Listen(ctx, func(ev any) {
		switch e := ev.(type) {
		case *network.EventRequestWillBeSent:
			w.note(&w.requests, e.Request.URL)
		case *runtime.EventConsoleAPICalled:
			w.note(&w.messages, string(e.Type))
		case *runtime.EventExceptionThrown:
			w.note(&w.messages, e.ExceptionDetails.Text)
		case *cdplog.EventEntryAdded: // such as violations of the content security policy
			w.note(&w.messages, e.Entry.Text)
		}
	}))
	return ctx, w
}

// quiet checks that only files were requested, and that there were no errors.
func (w *watched) quiet(t *testing.T, file string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.requests {
		if !strings.HasPrefix(r, "file://"+file) {
			t.Errorf("the page asked for %s", r)
		}
	}
	if len(w.requests) == 0 {
		t.Error("requests were not watched at all")
	}
	for _, m := range w.messages {
		t.Errorf("console: %s", m)
	}
}

// visit opens a file in a window of a size, in a light or dark scheme.
func visit(t *testing.T, ctx context.Context, file string, width, height int64, scheme string) {
	t.Helper()
	reporttest.Check(t, chromedp.Do(ctx, chromedp.EmulateViewport(width, height)))
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	reporttest.Check(t, err)
	reporttest.Check(t, chromedp.Do(ctx, chromedp.Navigate("file://"+file)))
}

// The page works in a real browser, at the width of a desktop and of a phone, light and dark: it sorts, filters, changes its
// theme, shows one timeline at a time and widens it, requests nothing, and writes nothing to the console.
func TestBrowser(t *testing.T) {
	ctx, w := openBrowser(t)
	file := filepath.Join(t.TempDir(), "report.html")
	reporttest.Check(t, os.WriteFile(file, []byte(rendered(t, built(t, reporttest.Labelled(t, "mixed", "skew", "recompute")))), 0o600))
	for _, size := range []struct {
		name          string
		width, height int64
	}{{"desk", 1440, 900}, {"phone", 390, 844}} {
		for _, scheme := range []string{"light", "dark"} {
			t.Run(size.name+" "+scheme, func(t *testing.T) {
				visit(t, ctx, file, size.width, size.height, scheme)
				usePage(t, ctx, scheme)
			})
		}
	}
	w.quiet(t, file)
}

func usePage(t *testing.T, ctx context.Context, scheme string) {
	if w := evaluate[int](t, ctx, `document.documentElement.scrollWidth - innerWidth`); w > 0 {
		t.Errorf("the page is %d pixels too wide", w)
	}
	background := func() string { return evaluate[string](t, ctx, `getComputedStyle(document.body).backgroundColor`) }
	was := background()
	if light := was == "rgb(251, 251, 249)"; light != (scheme == "light") {
		t.Errorf("the background is %s in the %s theme", was, scheme)
	}
	evaluate[any](t, ctx, `document.getElementById("theme").click()`)
	if background() == was {
		t.Error("the theme button changed nothing")
	}
	evaluate[any](t, ctx, `document.getElementById("theme").click(), localStorage.clear()`)

	column := `Array.from(document.querySelectorAll("#t-outliers tbody tr")).map(r => Number(r.cells[2].dataset.v))`
	evaluate[any](t, ctx, `document.querySelectorAll("#t-outliers thead th")[2].querySelector("button").click()`)
	descending(t, "durations", evaluate[[]float64](t, ctx, column), -1)
	evaluate[any](t, ctx, `document.querySelectorAll("#t-outliers thead th")[2].querySelector("button").click()`)
	descending(t, "durations", evaluate[[]float64](t, ctx, column), 1)
	if s := evaluate[string](t, ctx, `document.querySelectorAll("#t-outliers thead th")[2].getAttribute("aria-sort")`); s != "ascending" {
		t.Errorf("aria-sort is %q", s)
	}

	visible := `Array.from(document.querySelectorAll("#t-outliers tbody tr")).filter(r => !r.hidden)`
	all := evaluate[int](t, ctx, visible+`.length`)
	change := func(name, value string) {
		evaluate[any](t, ctx, `(function () { var e = document.querySelector("#filter [name=`+name+`]"); e.value = "`+value+
			`"; e.dispatchEvent(new Event("input", { bubbles: true })); })()`)
	}
	change("cause", "bad_machine")
	if n := evaluate[int](t, ctx, visible+`.length`); n == 0 || n >= all {
		t.Errorf("%d of %d rows are bad machines", n, all)
	}
	if n := evaluate[int](t, ctx, visible+`.filter(r => r.dataset.causes !== "bad_machine").length`); n != 0 {
		t.Errorf("%d rows of other causes are shown", n)
	}
	change("machine", "m07")
	change("text", "task")
	if n := evaluate[int](t, ctx, visible+`.filter(r => r.dataset.machine !== "m07").length`); n != 0 {
		t.Errorf("%d rows of other machines are shown", n)
	}
	evaluate[any](t, ctx, `document.querySelector("#filter button").click()`)
	if n := evaluate[int](t, ctx, visible+`.length`); n != all {
		t.Errorf("%d of %d rows after clearing the filter", n, all)
	}

	if n := evaluate[int](t, ctx, `document.querySelectorAll("figure[data-timeline]:not([hidden])").length`); n != 1 {
		t.Errorf("%d timelines are shown at once", n)
	}
	wide := `document.querySelector("figure:not([hidden]) .tl-plot").getBoundingClientRect().width`
	before := evaluate[float64](t, ctx, wide)
	evaluate[any](t, ctx, `document.querySelector("#pick button[value='2']").click()`)
	if after := evaluate[float64](t, ctx, wide); after < 1.9*before {
		t.Errorf("the timeline was %v wide and is %v", before, after)
	}
}

func descending(t *testing.T, what string, v []float64, sign float64) {
	t.Helper()
	if len(v) < 5 {
		t.Errorf("only %d %s", len(v), what)
	}
	for i := 1; i < len(v); i++ {
		if sign*v[i] < sign*v[i-1] {
			t.Errorf("%s are not sorted: %v", what, v)
			return
		}
	}
}

func evaluate[T any](t *testing.T, ctx context.Context, js string) T {
	t.Helper()
	if _, ignored := any(new(T)).(*any); ignored {
		reporttest.Check(t, chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](js)))
		var none T
		return none
	}
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js))
	if err != nil {
		t.Fatalf("%s: %v", js, err)
	}
	return v
}
