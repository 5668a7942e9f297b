package serve_test

import (
	"fmt"
	"html"
	"os"
	"regexp"
	"strings"
	"testing"

	"straggler/report/reporttest"
	"straggler/serve"
	"straggler/serve/catalog/catalogtest"
)

// For a program that runs daily, with a bad machine on the last day, the audit page draws each day and links to it. The page
// of the last day has the finding about that machine, with its query and the run; no earlier day has one. A store of one day
// has no history.
func TestNights(t *testing.T) {
	logs := onDays(t, catalogtest.Labelled(t, "..", "clean")[0], 0, 1, 2, 3, 4, 5)
	last := onDays(t, catalogtest.Labelled(t, "..", "bad-machine")[0], 6)
	text, err := os.ReadFile(last[0])
	reporttest.Check(t, err)
	// another run of the same program
	reporttest.Check(t, os.WriteFile(last[0], []byte(strings.ReplaceAll(string(text), `"App Name":"bad-machine"`, `"App Name":"clean"`)), 0o600))
	s, c := served(t, catalogtest.Store(t, false, append(logs, last...)...), serve.Options{})
	h := s.Handler()
	body := get(h, "/audit").Body.String()
	_, table, ok := strings.Cut(body, `<caption class="vh">Programs by night`)
	if !ok {
		t.Fatalf("no nights: %s", body)
	}
	table, _, _ = strings.Cut(table, "</table>")
	days := regexp.MustCompile(`<th scope="col"[^>]*><a href="(/audit/[\d-]+)">`).FindAllStringSubmatch(table, -1)
	rows := strings.Split(table, "<tr>")[2:]
	if len(days) != 7 || len(rows) != 1 || strings.Count(rows[0], "<td") != 7 || strings.Count(rows[0], `bad"`) != 1 ||
		!strings.HasSuffix(strings.SplitAfter(rows[0], "</td>")[6], "</td>") {
		t.Fatalf("%d days, %d rows: %s", len(days), len(rows), table)
	}
	apps, _ := c.Applications()
	for i, day := range days {
		page := get(h, html.UnescapeString(day[1])).Body.String()
		found := strings.Contains(page, "bad machine</a>")
		if strings.Contains(page, `class="problem"`) || !strings.Contains(page, applicationLink(apps[6-i].ApplicationID)) || found != (i == 6) {
			t.Errorf("%s: a bad machine is %v: %s", day[1], found, page)
		}
		if strings.Contains(page, "night before") != (i > 0) || strings.Contains(page, "night after") != (i < 6) {
			t.Errorf("%s does not lead to its neighbours", day[1])
		}
		for _, m := range regexp.MustCompile(`href="(/sql\?q=[^"]*)"`).FindAllStringSubmatch(page, -1) {
			if body := get(h, html.UnescapeString(m[1])).Body.String(); strings.Contains(body, `class="problem"`) {
				t.Errorf("the query of a finding fails: %s", body)
			}
		}
	}
	for path, code := range map[string]int{"/audit/2001-01-01": 200, "/audit/soon": 404, "/audit/2026-13-01": 404} {
		if w := get(h, path); w.Code != code || strings.Contains(w.Body.String(), `id="programs"`) {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	s, _ = served(t, catalogtest.Store(t, false, logs[0]), serve.Options{})
	if body := get(s.Handler(), "/audit").Body.String(); strings.Contains(body, "by night") || strings.Contains(body, fmt.Sprintf(`class="%s"`, "problem")) {
		t.Errorf("a history of one day: %s", body)
	}
}
