package serve_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"straggler/report/reporttest"
	"straggler/serve"
	"straggler/serve/catalog/catalogtest"
)

// Two logs with the same id are two applications: the permanent URL lets users choose, the API lists them by their keys and
// says so if asked for the id, each key answers for its own application, and the two can be compared.
func TestSameID(t *testing.T) {
	log := catalogtest.Labelled(t, "..", "plain")[0]
	data, err := os.ReadFile(log)
	reporttest.Check(t, err)
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	reporttest.Check(t, os.WriteFile(first, data, 0o600))
	// a log whose records are all in another one would be read once
	reporttest.Check(t, os.WriteFile(second, bytes.Replace(data, []byte(`"App Name":"plain"`), []byte(`"App Name":"other"`), 1), 0o600))
	s, _ := served(t, catalogtest.Store(t, false, first, second), serve.Options{})
	h := s.Handler()
	var apps []struct{ ID, Name, StragglerKey string }
	reporttest.Check(t, json.Unmarshal(get(h, "/api/v1/applications").Body.Bytes(), &apps))
	if len(apps) != 2 || apps[0].ID == apps[1].ID || apps[0].ID != apps[0].StragglerKey {
		t.Fatalf("the API lists %+v", apps)
	}
	var id string
	for _, a := range apps {
		w := get(h, "/api/v1/applications/"+a.ID+"/jobs")
		var jobs []struct{ StragglerKey string }
		reporttest.Check(t, json.Unmarshal(w.Body.Bytes(), &jobs))
		if len(jobs) == 0 || jobs[0].StragglerKey == id {
			t.Errorf("jobs of %s: %s", a.ID, w.Body)
		}
		id = jobs[0].StragglerKey
	}
	native := regexp.MustCompile(`app-\d+-\d+`).FindString(get(h, "/").Body.String())
	if w := get(h, "/api/v1/applications/"+native+"/jobs"); w.Code != 409 || !strings.Contains(w.Body.String(), apps[0].ID) ||
		!strings.Contains(w.Body.String(), apps[1].ID) {
		t.Errorf("an ambiguous id: %d %s", w.Code, w.Body)
	}
	w := get(h, "/history/"+native)
	var links []string
	for _, m := range regexp.MustCompile(`href="/applications/(\d+)"`).FindAllStringSubmatch(w.Body.String(), -1) {
		links = append(links, m[1])
	}
	slices.Sort(links)
	want := []string{apps[0].ID, apps[1].ID}
	if slices.Sort(want); w.Code != 300 || !slices.Equal(links, want) {
		t.Errorf("the page to choose: %d with %v, want %v", w.Code, links, want)
	}
	if body := get(h, "/compare?a="+apps[0].ID+"&b="+apps[1].ID).Body.String(); !strings.Contains(body, "Method:") || strings.Contains(body, `class="problem"`) {
		t.Errorf("comparing them: %s", body)
	}
	if body := get(h, "/applications/"+apps[0].ID).Body.String(); !strings.Contains(body, `href="/history/`+native+`"`) {
		t.Error("the page of one does not lead to the other")
	}
}

// Answers of the API are safe to print on a terminal, and preserve the text of the log.
func TestAPIEscapes(t *testing.T) {
	log := catalogtest.Labelled(t, "..", "plain")[0]
	data, err := os.ReadFile(log)
	reporttest.Check(t, err)
	const name = "a\u202egpj.exe\u009b31m"
	renamed := filepath.Join(t.TempDir(), "log")
	reporttest.Check(t, os.WriteFile(renamed, bytes.Replace(data, []byte(`"App Name":"plain"`), []byte(`"App Name":"`+name+`"`), 1), 0o600))
	s, _ := served(t, catalogtest.Store(t, false, renamed), serve.Options{})
	body := get(s.Handler(), "/api/v1/applications").Body.String()
	if strings.ContainsAny(body, "\u202e\u009b") {
		t.Errorf("runes that a terminal obeys: %q", body)
	}
	var apps []struct{ Name string }
	reporttest.Check(t, json.Unmarshal([]byte(body), &apps))
	if len(apps) != 1 || apps[0].Name != name {
		t.Errorf("the name came back as %q", apps)
	}
}
