package sparkrest_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"straggler/live"
	"straggler/live/livetest"
	"straggler/live/rest"
	"straggler/live/sparkrest"
	"straggler/schema"
)

// wide returns an application with one stage of 3,000 tasks of a second each on ten slots; one of the tasks runs for 300 s.
func wide() *schema.Trace {
	t := &schema.Trace{}
	keys := schema.NewKeys(schema.InputKey("wide", nil), "rows")
	app := schema.Application{ApplicationID: keys.Next(), NativeID: "app-1", StartTime: schema.Some(schema.Time(1e15))}
	at := func(s float64) schema.Null[schema.Time] { return schema.Some(app.StartTime.V.Add(s)) }
	job := schema.Job{JobID: keys.Next(), ApplicationID: app.ApplicationID, NativeID: "0", SubmitTime: at(0), FinishTime: at(400)}
	phase := schema.Phase{PhaseID: keys.Next(), JobID: job.JobID, NativeID: "0", SubmitTime: at(0), FinishTime: at(400), TaskCount: schema.Some(int64(3000))}
	app.FinishTime = at(401)
	var free [10]float64
	for task := range int64(3000) {
		slot, took := 0, 1.0
		for k := range free {
			if free[k] < free[slot] {
				slot = k
			}
		}
		if task == 3 {
			took = 300
		}
		t.Attempts = append(t.Attempts, schema.Attempt{AttemptID: keys.Next(), PhaseID: phase.PhaseID, JobID: job.JobID, ApplicationID: app.ApplicationID,
			NativeID: strconv.FormatInt(task, 10), Task: task, Machine: schema.Some("m1"), Executor: schema.Some("0"), Status: schema.Success,
			StartTime: at(free[slot]), FinishTime: at(free[slot] + took), DurationS: schema.Some(took), InputBytes: schema.Some(int64(1000))})
		free[slot] += took
	}
	t.Machines = []schema.Machine{{ApplicationID: schema.Some(app.ApplicationID), Machine: "m1", Executor: schema.Some("0"),
		Cores: schema.Some(10.0), Slots: schema.Some(int64(10)), AddedTime: at(0)}}
	t.Applications, t.Jobs, t.Phases = []schema.Application{app}, []schema.Job{job}, []schema.Phase{phase}
	return t
}

// counted forwards requests to a server and counts them, and the tasks in its answers.
type counted struct {
	*httptest.Server
	requests, tasks int
}

func count(t *testing.T, s *livetest.Server) *counted {
	c := &counted{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		s.Config.Handler.ServeHTTP(answer, r)
		c.requests++
		if strings.HasSuffix(r.URL.Path, "/taskList") {
			var list []json.RawMessage
			if err := json.Unmarshal(answer.Body.Bytes(), &list); err != nil {
				t.Error(err)
			}
			c.tasks += len(list)
		}
		w.WriteHeader(answer.Code)
		w.Write(answer.Body.Bytes())
	}))
	t.Cleanup(c.Close)
	return c
}

// Only tasks that changed, and running ones, are read: although one of the first tasks runs until the end of the stage,
// thousands that have ended since are not read again.
func TestOnlyWhatChangedIsRead(t *testing.T) {
	trace := wide()
	s := livetest.New(t, trace)
	c := count(t, s)
	src := sparkrest.NewSource(client(t, c.URL, rest.Options{}), "")
	polls := 0
	var st *live.State
	for now := s.Start() + 1; st == nil || !st.Ended; now = min(now.Add(5), s.End()) {
		s.Set(now)
		var err error
		if st, err = src.Poll(t.Context()); err != nil {
			t.Fatal(err)
		}
		if polls++; polls > 200 {
			t.Fatal("it does not end")
		}
	}
	for i := range st.Trace.Attempts {
		if a := &st.Trace.Attempts[i]; a.Status != schema.Success {
			t.Fatalf("attempt %s is %s at the end", a.NativeID, a.Status)
		}
	}
	if n := len(st.Trace.Attempts); n != len(trace.Attempts) {
		t.Errorf("%d attempts of %d", n, len(trace.Attempts))
	}
	// in five seconds 50 tasks end and as many start, within a window; ten more are running
	if most := len(trace.Attempts) + polls*(2*50+2*10); c.tasks > most {
		t.Errorf("%d tasks were answered in %d polls, expected at most %d", c.tasks, polls, most)
	}
	if most := 4*polls + 10; c.requests > most {
		t.Errorf("%d requests in %d polls, expected at most %d", c.requests, polls, most)
	}
}

// While no stage runs, a poll makes one request; while nothing in a stage changes, it makes one in two of three polls.
func TestPollsOfNothingNew(t *testing.T) {
	s := livetest.New(t, wide())
	c := count(t, s)
	src := sparkrest.NewSource(client(t, c.URL, rest.Options{}), "")
	poll := func(times int) (requests int) {
		before := c.requests
		for range times {
			if _, err := src.Poll(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		return c.requests - before
	}
	s.Set(s.Start().Add(20))
	poll(1)
	if n := poll(9); n > 9+3 {
		t.Errorf("%d requests in nine polls of a stage that stands still", n)
	}
	s.Set(s.Start().Add(400.5)) // the stage has ended, the application has not
	poll(5)
	if n := poll(10); n != 10 {
		t.Errorf("%d requests in ten polls while nothing runs", n)
	}
}

// A driver that restarts as another attempt during a stage of the earlier one is watched from the start.
func TestAnotherAttempt(t *testing.T) {
	s := livetest.New(t, wide())
	s.Set(s.Start().Add(20))
	s.Attempt = "1"
	src := sparkrest.NewSource(client(t, s.URL, rest.Options{}), "")
	first, err := src.Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	was := first.Trace.Applications[0].ApplicationID
	s.Attempt = "2"
	second, err := src.Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if is := second.Trace.Applications[0].ApplicationID; is == was || len(second.Trace.Attempts) == 0 {
		t.Errorf("the second attempt is %v with %d tasks, the first was %v", is, len(second.Trace.Attempts), was)
	}
}
