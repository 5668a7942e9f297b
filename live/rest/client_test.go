package rest

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"straggler/live"
)

// If answers may take a hundredth of the time, and one second at once, answers of 1.05 s are followed by a pause of 5 s, and
// slower ones by the longest pause, for a minute; nothing is counted before the meter runs, nor for a server that nothing
// depends on.
func TestShareOfTime(t *testing.T) {
	new := func(o Options) *Client {
		c, err := New("http://host:4040", API{Path: "/"}, o)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := new(Options{})
	c.settle(time.Hour)
	c.Meter()
	if p := c.Pause(); p != time.Second {
		t.Errorf("what was answered before the meter ran costs a pause of %s", p)
	}
	for _, x := range []struct{ cost, low, high time.Duration }{
		{900 * time.Millisecond, time.Second, time.Second},
		{150 * time.Millisecond, 4 * time.Second, 5 * time.Second},
		{20 * time.Millisecond, 6 * time.Second, 7 * time.Second},
		{2 * time.Second, longest, longest},
	} {
		c.settle(x.cost)
		if p := c.Pause(); p < x.low || p > x.high {
			t.Errorf("after another %s the pause is %s, not %s to %s", x.cost, p, x.low, x.high)
		}
	}
	c.metered = c.metered.Add(-forgotten / 2)
	if p := c.Pause(); p != longest {
		t.Errorf("half a minute later the pause is %s", p)
	}
	c.metered = c.metered.Add(-forgotten / 2)
	if p := c.Pause(); p != time.Second {
		t.Errorf("a minute later the pause is still %s", p)
	}
	c.Unthrottle(time.Millisecond)
	c.settle(500 * time.Millisecond)
	if p := c.Pause(); p != time.Millisecond {
		t.Errorf("a server that nothing depends on is left alone for %s", p)
	}
}

// The time to reach a server, measured by connecting, does not count as the cost of an answer.
func TestTheWayIsNotCounted(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("1")) }))
	defer s.Close()
	c, err := New(s.URL, API{Path: "/"}, Options{Pause: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Meter()
	ask := func() time.Duration {
		before, n := c.debt, 0
		if err := c.Get(t.Context(), "", nil, &n); err != nil || n != 1 {
			t.Fatal(n, err)
		}
		return c.debt - before
	}
	ask()
	if c.trip.Load() <= 0 {
		t.Fatal("no connection was timed")
	}
	c.trip.Store(int64(time.Hour))
	if cost := ask(); cost > 0 {
		t.Errorf("an answer costs %s where the way alone takes an hour", cost)
	}
}

// A refusal gives an error that says what would help: credentials, or, if the server accepts only Kerberos, another way.
func TestWhatIsForbidden(t *testing.T) {
	for _, x := range []struct{ offer, says string }{{"Negotiate", "Kerberos"}, {`Basic realm="x"`, "--credentials"}, {"", "--credentials"}} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if x.offer != "" {
				w.Header().Set("WWW-Authenticate", x.offer)
			}
			w.WriteHeader(http.StatusUnauthorized)
		}))
		defer s.Close()
		c, err := New(s.URL, API{Path: "/"}, Options{Pause: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Get(t.Context(), "", nil, nil); !errors.Is(err, ErrForbidden) || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%q: %v", x.offer, err)
		}
	}
}

// For a page returned instead of an answer the error gives its title, without Java names, on one line and truncated.
func TestTitles(t *testing.T) {
	for page, want := range map[string]string{
		"<html><title>Error 500 org.apache.http.conn.HttpHostConnectException: Connect failed</title>": ": Connect failed",
		"<h1>\n Application a &lt;b&gt;\n could not be found </h1>":                                    ": Application a <b> could not be found",
		"<html>nothing": "",
		"<title>Error 403 not authorized</title>":         ": not authorized",
		"<title>" + strings.Repeat("ä", 500) + "</title>": ": " + strings.Repeat("ä", 100) + "…",
	} {
		if got := title([]byte(page)); got != want {
			t.Errorf("%.40q: %q, want %q", page, got, want)
		}
	}
}

// A field of an unexpected type is named, without names of this program's types.
func TestOtherShape(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{"id": 5}`)) }))
	defer s.Close()
	c, err := New(s.URL, API{Path: "/", Name: "an API"}, Options{Pause: 1})
	if err != nil {
		t.Fatal(err)
	}
	var into struct{ ID string }
	if err := c.Get(t.Context(), "", nil, &into); !errors.Is(err, live.ErrAway) ||
		!strings.HasSuffix(err.Error(), `not answer with JSON of an API: "ID" is of type number`) {
		t.Error(err)
	}
	var list []int
	if err := c.Get(t.Context(), "", nil, &list); !errors.Is(err, live.ErrAway) ||
		!strings.HasSuffix(err.Error(), `not answer with JSON of an API: it is of type object`) {
		t.Error(err)
	}
}
