package serve_test

import (
	"fmt"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"straggler/report/reporttest"
	"straggler/schema"
	"straggler/serve"
	"straggler/serve/catalog/catalogtest"
)

// onDays rewrites a log as if it were several days later, once for each, and returns the files.
func onDays(t *testing.T, log string, days ...int) (files []string) {
	t.Helper()
	packed, err := os.ReadFile(log)
	reporttest.Check(t, err)
	d, err := zstd.NewReader(nil)
	reporttest.Check(t, err)
	defer d.Close()
	text, err := d.DecodeAll(packed, nil)
	reporttest.Check(t, err)
	instant := regexp.MustCompile(`\b17\d{11}\b`) // milliseconds since 1970, in the years 2023 to 2027
	dir := t.TempDir()
	for _, day := range days {
		later := instant.ReplaceAllStringFunc(string(text), func(s string) string {
			ms, _ := strconv.ParseInt(s, 10, 64)
			return fmt.Sprint(ms + int64(day)*86_400_000)
		})
		later = regexp.MustCompile(`app-\d{14}-\d{4}`).ReplaceAllString(later, fmt.Sprintf("app-20261121000000-%04d", day))
		name := filepath.Join(dir, fmt.Sprintf("app-20261121000000-%04d", day))
		reporttest.Check(t, os.WriteFile(name, []byte(later), 0o600))
		files = append(files, name)
	}
	return files
}

// Over days, each machine has a cell for every day on which a machine was judged, and a bad one has its history with its
// cost; the seconds are those of the attributions. Over months, days become weeks.
func TestMachinesOverTime(t *testing.T) {
	log := catalogtest.Labelled(t, "..", "bad-machine")[0]
	for _, c := range []struct {
		days          []int
		title, period string
		cells, drawn  int
	}{{[]int{0, 1, 5}, "Machines by day", "Day", 3, 3}, {[]int{0, 1, 60}, "Machines by week", "Week", 2, 2}} {
		s, _ := served(t, catalogtest.Store(t, false, onDays(t, log, c.days...)...), serve.Options{})
		h := s.Handler()
		body := get(h, "/machines").Body.String()
		_, table, ok := strings.Cut(body, `<table class="heat"><caption class="vh">`+c.title)
		if !ok {
			t.Fatalf("no %q: %s", c.title, body[max(0, len(body)-500):])
		}
		table, _, _ = strings.Cut(table, "</table>")
		rows := strings.Split(table, "<tr>")[2:]
		worst := regexp.MustCompile(`href="(/machine\?name=[^"]*)"`).FindStringSubmatch(rows[0])
		if n := strings.Count(rows[0], "<td"); n < c.cells || n > c.cells+1 || strings.Count(rows[0], `bad"`) != c.drawn || worst == nil {
			t.Fatalf("%s: the worst machine has %d cells, want %d with %d bad ones: %s", c.title, n, c.cells, c.drawn, rows[0])
		}
		if strings.Contains(rows[len(rows)-1], `bad"`) {
			t.Errorf("the last of the machines is bad: %s", rows[len(rows)-1])
		}
		page := get(h, html.UnescapeString(worst[1])).Body.String()
		if !strings.Contains(page, `id="periods"`) || strings.Count(page, `class="barplot"`) != 2 || !strings.Contains(page, `data-label="`+c.period+`"`) {
			t.Errorf("the page of the worst machine has no history: %s", page)
		}
		sql := regexp.MustCompile(`(?s)Query of this list</summary><pre><code>(.*?)</code>`).FindStringSubmatch(page)
		sum := func(query string) string {
			return get(h, "/api/v1/sql?q="+strings.NewReplacer(" ", "+", "\n", "%0A", "+", "%2B", ";", "%3B", "%", "%25", "&",
				"%26", "#", "%23").Replace(query)).Body.String()
		}
		drawn := sum("SELECT round(sum(lost_s), 3) AS s FROM (" + html.UnescapeString(sql[1]) + ")")
		name := strings.TrimPrefix(html.UnescapeString(worst[1]), "/machine?name=")
		owed := sum("SELECT round(sum(c.seconds), 3) AS s FROM attributions c JOIN attempts a ON a.attempt_id = c.attempt_id WHERE c.cause = 'bad_machine' AND a.machine = '" + name + "'")
		if drawn != owed || strings.Contains(drawn, "null") || !strings.Contains(drawn, `"s"`) {
			t.Errorf("%s: the history has %s, the attributions have %s", c.title, drawn, owed)
		}
	}
}

// What is kept for all machines equals what would be read for each.
func TestMachinesKept(t *testing.T) {
	logs := catalogtest.Labelled(t, "..", "mixed")
	s, _ := served(t, catalogtest.Store(t, true, append(logs, onDays(t, catalogtest.Labelled(t, "..", "bad-machine")[0], 0, 1)...)...), serve.Options{})
	many := 0
	for _, m := range regexp.MustCompile(`href="/machine\?name=([^"]*)"`).FindAllStringSubmatch(get(s.Handler(), "/machines").Body.String(), -1) {
		name, err := url.QueryUnescape(html.UnescapeString(m[1]))
		reporttest.Check(t, err)
		kept, read, err := s.Machine(t.Context(), name)
		reporttest.Check(t, err)
		if kept != read {
			t.Errorf("%q: kept\n%s\nread\n%s", name, kept, read)
		}
		if kept[0] != "[]" && kept[1] != "[]" {
			many++
		}
	}
	if many == 0 {
		t.Error("no machine has outliers and periods")
	}
}

// A store of one day has no history to draw.
func TestMachinesOfOneDay(t *testing.T) {
	s, _ := served(t, catalogtest.Store(t, false, catalogtest.Labelled(t, "..", "skew")...), serve.Options{})
	if body := get(s.Handler(), "/machines").Body.String(); strings.Contains(body, "Machines by") || strings.Contains(body, `class="problem"`) {
		t.Error("a heat map of one day")
	}
}

// A machine that became slow in the latest run of a program has that finding of the audit on its page, from which a click
// leads to the run; the other machines have none.
func TestMachineFindings(t *testing.T) {
	logs := onDays(t, catalogtest.Labelled(t, "..", "clean")[0], 0, 1, 2, 3, 4, 5)
	last := onDays(t, catalogtest.Labelled(t, "..", "bad-machine")[0], 6)
	text, err := os.ReadFile(last[0])
	reporttest.Check(t, err)
	// another run of the same program
	reporttest.Check(t, os.WriteFile(last[0], []byte(strings.ReplaceAll(string(text), `"App Name":"bad-machine"`, `"App Name":"clean"`)), 0o600))
	logs = append(logs, last...)
	s, c := served(t, catalogtest.Store(t, false, logs...), serve.Options{})
	h := s.Handler()
	worst := regexp.MustCompile(`href="(/machine\?name=[^"]*)"`).FindStringSubmatch(get(h, "/audit").Body.String())
	if worst == nil {
		t.Fatalf("the audit names no machine: %s", get(h, "/audit").Body)
	}
	apps, _ := c.Applications()
	found := 0
	for _, m := range regexp.MustCompile(`href="(/machine\?name=[^"]*)"`).FindAllStringSubmatch(get(h, "/machines").Body.String(), -1) {
		page := get(h, html.UnescapeString(m[1])).Body.String()
		if has := strings.Contains(page, `id="findings"`); has != (m[1] == worst[1]) {
			t.Errorf("%s has findings: %v", m[1], has)
		} else if has && strings.Contains(page, applicationLink(apps[0].ApplicationID)) {
			found++
		}
	}
	if found == 0 {
		t.Error("no machine has its finding with the run")
	}
}

func applicationLink(k schema.Key) string { return fmt.Sprintf(`href="/applications/%d"`, k) }
