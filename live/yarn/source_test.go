package yarn_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"straggler/live"
	"straggler/live/rest"
	"straggler/live/yarn"
	"straggler/schema"
	"straggler/whatif/policy"
)

// nightly returns a job of 24 maps on six machines, two at a time on each, and two reduces. Map 7 takes 120 s instead of 10, and
// a copy of it that starts at 30 s takes 10.
func nightly(copied bool) []*work {
	var tasks []*work
	for i := range 24 {
		a := run{at: 1 + 10.5*float64(i/12), took: 10 + 0.1*float64(i%5), host: fmt.Sprintf("m%02d", i%6)}
		t := &work{kind: "m", index: i}
		if i == 7 {
			a.took = 120
		}
		t.attempts = []run{a}
		if i == 7 && copied {
			t.attempts = []run{{at: a.at, took: 39, host: a.host, killed: true}, {at: 30, took: 10, host: "m04"}}
		}
		tasks = append(tasks, t)
	}
	for i := range 2 {
		tasks = append(tasks, &work{kind: "r", index: i, attempts: []run{{at: 122, took: 8, host: "m00"}}})
	}
	return tasks
}

func source(tb testing.TB, c *cluster, id string) *yarn.Source {
	tb.Helper()
	s, err := yarn.New(c.URL, id, rest.Options{Pause: 10 * time.Nanosecond, Share: 1})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

func poll(tb testing.TB, s *yarn.Source) *live.State {
	tb.Helper()
	st, err := s.Poll(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return st
}

// The polled rows of a job finally equal what the master reported, attempt by attempt, whether it was watched from its start
// or only at its end.
func TestRowsOfTheJob(t *testing.T) {
	for _, every := range []float64{3, 1000} {
		c := newCluster(t, nightly(true)...)
		s := source(t, c, app)
		c.set(min(every, c.end()-1))
		st := poll(t, s)
		for now := every; !st.Ended; now += every {
			c.set(min(now, c.end()))
			st = poll(t, s)
		}
		got := map[string]*schema.Attempt{}
		for i := range st.Trace.Attempts {
			got[st.Trace.Attempts[i].NativeID] = &st.Trace.Attempts[i]
		}
		n := 0
		for _, w := range c.tasks {
			for i, a := range w.attempts {
				n++
				id := fmt.Sprintf("%s_%d", w.id("attempt"), i)
				x := got[id]
				if x == nil {
					t.Errorf("every %v s: %s was not polled", every, id)
					continue
				}
				want := schema.Success
				if a.killed {
					want = schema.Killed
				}
				phase := map[string]int{"m": 0, "r": 1}[w.kind]
				if x.Task != int64(w.index) || x.Number != int32(i) || x.Machine.V != a.host || x.Status != want || math.Abs(x.DurationS.V-a.took) > 0.002 ||
					x.PhaseID != st.Trace.Phases[phase].PhaseID || x.Speculative != schema.Some(i > 0) || strings.Contains(x.Reason.V, "\n") {
					t.Errorf("every %v s: %s: %+v", every, id, x)
				}
			}
		}
		if a := st.Trace.Applications[0]; len(got) != n || a.Status != schema.RunSucceeded || len(st.Progress) > 0 {
			t.Errorf("every %v s: %d of %d attempts, %s, progress of %d", every, len(got), n, a.Status, len(st.Progress))
		}
	}
}

// LATE copies the task that reports the least progress when it has run for a minute, and the remaining time is estimated from
// its progress: within a tenth after half a minute.
func TestDecisionsByProgress(t *testing.T) {
	c := newCluster(t, nightly(false)...)
	s := source(t, c, "")
	policies, err := policy.Choose([]string{"late"}, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := live.New(live.Options{Policies: policies})
	var decided []string
	for now := 2.0; now < c.end(); now += 2 {
		c.set(now)
		st := poll(t, s)
		st.Now = schema.FromMillis(c.millis(now))
		f, err := w.Update(t.Context(), st)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decisions {
			decided = append(decided, d.Text)
			if now < 61 || now > 65 {
				t.Errorf("at %v s: %s", now, d.Text)
			}
		}
		for _, x := range f.Slow {
			if x.Task != 7 || x.Basis != live.ByProgress {
				t.Errorf("at %v s: task %d is called slow, by %s", now, x.Task, x.Basis)
			}
			if left := 121 - now; now > 30 && math.Abs(x.LeftS-left) > 0.1*120 {
				t.Errorf("at %v s: %v s left, estimated %v", now, left, x.LeftS)
			}
		}
		if now > 20 && now < 120 && len(f.Slow) != 1 {
			t.Errorf("at %v s: %d slow tasks", now, len(f.Slow))
		}
	}
	if text := strings.Join(decided, "\n"); !strings.Contains(text, "late would copy task 7 of stage map now") {
		t.Errorf("decided: %s", text)
	}
}

// A poll requests the attempts of running tasks first, and of a bounded number of tasks; the rest follow in later polls.
func TestRequestsAreBounded(t *testing.T) {
	var tasks []*work
	for i := range 300 {
		tasks = append(tasks, &work{kind: "m", index: i, attempts: []run{{at: 1, took: 5 + 95*float64(i/290), host: "m01"}}})
	}
	c := newCluster(t, tasks...)
	c.set(10)
	s := source(t, c, app)
	st := poll(t, s)
	if n := len(c.asked); n > 60 {
		t.Errorf("the first poll made %d requests", n)
	}
	running := 0
	for i := range st.Trace.Attempts {
		if st.Trace.Attempts[i].Status == schema.Running {
			running++
		}
	}
	if running != 10 || !strings.Contains(strings.Join(st.Notes, "\n"), "250 tasks have not been read yet") {
		t.Errorf("%d running attempts after the first poll; notes %q", running, st.Notes)
	}
	for range 5 {
		st = poll(t, s)
	}
	if len(st.Trace.Attempts) != 300 {
		t.Errorf("%d of 300 attempts after six polls", len(st.Trace.Attempts))
	}
	before := len(c.asked)
	poll(t, s)
	if n := len(c.asked) - before; n > 2 {
		t.Errorf("a poll with nothing new made %d requests", n)
	}
}

// Every fault of an application gives an error that says what to do.
func TestFaultyClusters(t *testing.T) {
	for _, x := range []struct {
		name, app string
		fault     func(*cluster)
		is        error
		says      string
	}{
		{"unknown", "application_1_0009", func(*cluster) {}, live.ErrGone, "knows no application application_1_0009"},
		{"ended", app, func(c *cluster) { c.now = 1000 }, live.ErrGone, "has ended (succeeded); read its log or history"},
		{"not started", app, func(c *cluster) { c.waiting = true }, live.ErrAway, "it is accepted"},
		{"another framework", app, func(c *cluster) { c.kind = "TEZ" }, rest.ErrURL, "of the framework TEZ"},
		{"several", "", func(c *cluster) { c.several = true }, rest.ErrURL, "name one with --app: " + app},
		{"no master", app, func(c *cluster) { c.gone = true }, live.ErrAway, "not found"},
	} {
		c := newCluster(t, nightly(false)...)
		c.set(5)
		x.fault(c)
		_, err := source(t, c, x.app).Poll(context.Background())
		if !errors.Is(err, x.is) || !strings.Contains(fmt.Sprint(err), x.says) {
			t.Errorf("%s: %v", x.name, err)
		}
	}
}

// It is not a fault if a master is gone after its job has ended: the manager reports the end.
func TestEndOfTheMaster(t *testing.T) {
	c := newCluster(t, nightly(false)...)
	s := source(t, c, app)
	c.set(30)
	poll(t, s)
	c.gone = true
	if _, err := s.Poll(t.Context()); !errors.Is(err, live.ErrAway) {
		t.Errorf("a master that is away while the job runs: %v", err)
	}
	c.set(c.end())
	st := poll(t, s)
	if a := st.Trace.Applications[0]; !st.Ended || a.Status != schema.RunSucceeded ||
		a.FinishTime != schema.Some(schema.FromMillis(c.millis(c.end()))) || len(st.Notes) == 0 {
		t.Errorf("ended %t, %s at %v, notes %q", st.Ended, a.Status, a.FinishTime, st.Notes)
	}
}

// Pages of a resource manager whose addresses people copy are recognised; a driver's pages are not mistaken for them.
func TestManagersAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"http://rm:8088":                                      "http://rm:8088 ",
		"http://rm:8088/cluster/apps/RUNNING":                 "http://rm:8088 ",
		"http://rm:8088/proxy/" + app + "/":                   "http://rm:8088 " + app,
		"https://gate/yarn/proxy/" + app + "/mapreduce/job/x": "https://gate/yarn " + app,
		"http://rm:9000/cluster/app/" + app:                   "http://rm:9000 " + app,
		"http://rm:9000/cluster":                              "http://rm:9000 ",
		"https://gate/yarn/cluster/apps?x=1":                  "https://gate/yarn ",
		"http://history:18080/cluster-a":                      "",
		"http://driver:4040":                                  "",
		"http://history:18080/history/" + app + "/jobs/":      "",
		"http://driver:4040/proxy/application_x":              "",
	} {
		manager, id, ok := yarn.Manager(address)
		if got := manager + " " + id; ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q %q %t", address, manager, id, ok)
		}
	}
}

// A manager without running applications, which writes its list as null or as an empty object, is reported as such.
func TestNothingRuns(t *testing.T) {
	for _, answer := range []string{`{"apps":null}`, `{"apps":{}}`, `{"apps":{"app":[]}}`} {
		c := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(answer)) }))
		defer c.Close()
		s, err := yarn.New(c.URL, "", rest.Options{Pause: time.Nanosecond, Share: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.Poll(t.Context()); !errors.Is(err, rest.ErrURL) || !strings.Contains(fmt.Sprint(err), "no application of Spark or MapReduce runs at "+c.URL) {
			t.Errorf("%s: %v", answer, err)
		}
		if ids, err := s.Running(t.Context()); err != nil || len(ids) > 0 {
			t.Errorf("%s: %v, %v", answer, ids, err)
		}
	}
}
