package serve_test

import (
	"bytes"
	"fmt"
	"html"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"straggler/report/reporttest"
	"straggler/serve"
	"straggler/serve/catalog/catalogtest"
)

// Every kind of page, including error pages, passes axe if that is installed, and fits the window at the width of a desktop
// and of a phone, light and dark. A page added by routes.go that is not visited here fails the test.
func TestEveryPageIsAccessible(t *testing.T) {
	logs := onDays(t, catalogtest.Labelled(t, "..", "bad-machine")[0], 0, 1, 2)
	twice, err := os.ReadFile(logs[2])
	reporttest.Check(t, err)
	second := filepath.Join(t.TempDir(), "second") // another application with that id: the same log would be read once
	reporttest.Check(t, os.WriteFile(second, twice[bytes.IndexByte(twice, '\n')+1:], 0o600))
	logs = append(logs, second, filepath.Join("..", "plans", "testdata", "spark3-aqe-on.zstd"))
	_, driver, board := replayed(t, "skew")
	running := whenSlow(t, driver, board)
	s, c := served(t, catalogtest.Store(t, true, logs...), serve.Options{Version: "test", Running: board})
	until(t, c)
	h := s.Handler()
	follow := func(path, link string) string {
		t.Helper()
		found := regexp.MustCompile(`href="(` + link + `)"`).FindStringSubmatch(get(h, path).Body.String())
		if found == nil {
			t.Fatalf("%s has no link to %s", path, link)
		}
		return html.UnescapeString(found[1])
	}
	app := follow("/?q=spark3", `/applications/\d+`)
	query := follow(app, `/queries/\d+`)
	job := follow(query, `/jobs/\d+`)
	phase := follow(job, `/phases/\d+`)
	slow := follow("/?q=bad-machine", `/applications/\d+`)
	audit := follow("/audit", `/audit/\d[^"]*`)
	apps, _ := c.Applications()
	same := filepath.Base(logs[2])
	visited := map[string][]string{
		"/{$}":                         {"/", "/?q=nothing+of+this+name"},
		"/all":                         {"/all"},
		"/applications/{key}":          {app, slow},
		"/applications/{key}/timeline": {slow + "/timeline"},
		"/applications/{key}/policies": {slow + "/policies"},
		"/queries/{key}":               {query},
		"/jobs/{key}":                  {job},
		"/phases/{key}":                {phase, "/phases/7"},
		"/attempts/{key}":              {follow(slow, `/attempts/\d+`), follow(phase, `/attempts/\d+`)},
		"/running":                     {"/running"},
		"/running/{id}":                {"/running/" + running},
		"/machines":                    {"/machines"},
		"/machine":                     {follow("/machines", `/machine\?name=[^"]*`), "/machine?name=nobody"},
		"/logs":                        {"/logs"},
		"/compare":                     {"/compare", fmt.Sprintf("/compare?a=%d&b=%d", apps[0].ApplicationID, apps[1].ApplicationID)},
		"/policies":                    {"/policies"},
		"/audit":                       {"/audit"},
		"/audit/{day}":                 {audit, "/audit/2001-01-01", "/audit/never"},
		"/sql": {"/sql",
			"/sql?q=" + url.QueryEscape("SELECT cause, sum(seconds) AS s FROM attributions GROUP BY 1"), "/sql?q=SELECT+nothing", "/sql?q=DROP+TABLE+attempts"},
		"/history/{id}":  {"/history/" + same},
		"/history/{id}/": {"/history/" + same + "/"},
	}
	web := httptest.NewServer(h)
	defer web.Close()
	ctx, _ := openBrowser(t, web.URL)
	checked := map[string]bool{} // by size and address
	for _, size := range []struct {
		name, scheme  string
		width, height int64
	}{{"desk", "light", 1280, 900}, {"phone", "dark", 390, 844}} {
		reporttest.Check(t, chromedp.Do(ctx, chromedp.EmulateViewport(size.width, size.height)))
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia,
			emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: size.scheme}}})
		reporttest.Check(t, err)
		for _, at := range s.Addresses() {
			if len(visited[at]) == 0 {
				t.Errorf("no page of %s is visited", at)
			}
			for _, path := range visited[at] {
				reporttest.Check(t, chromedp.Do(ctx, chromedp.Navigate(web.URL+path)))
				waitFor(t, ctx, `document.readyState === "complete" && document.querySelector("footer")`)
				if w := evaluate[int](t, ctx, `document.documentElement.scrollWidth - innerWidth`); w > 0 {
					t.Errorf("%s: %s is %d pixels too wide", size.name, path, w)
				}
				page := size.name + " " + evaluate[string](t, ctx, `location.href`)
				if checked[page] { // one that the server redirected to
					continue
				}
				checked[page] = true
				for _, v := range axe(t, ctx) {
					t.Errorf("%s: %s: %s", size.name, path, v)
				}
			}
		}
	}
}
