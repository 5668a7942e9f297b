package rest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"straggler/live"
)

// Credentials are the credentials for a server. The zero value is none.
type Credentials struct {
	User, Password string // basic authentication
	Token          string // or a bearer token
}

// ErrCredentials is returned for malformed credentials.
var ErrCredentials = errors.New("credentials")

// ReadCredentials reads the first line of a file, USER:PASSWORD or a token, or, if no file is named, the environment:
// STRAGGLER_REST_TOKEN, or STRAGGLER_REST_USER and STRAGGLER_REST_PASSWORD.
func ReadCredentials(file string, env func(string) string) (Credentials, error) {
	if file == "" {
		return Credentials{User: env("STRAGGLER_REST_USER"), Password: env("STRAGGLER_REST_PASSWORD"), Token: env("STRAGGLER_REST_TOKEN")}, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return Credentials{}, fmt.Errorf("%w: %w", ErrCredentials, err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	line = strings.TrimSpace(line)
	if line == "" {
		return Credentials{}, fmt.Errorf("%w: %s: the first line is empty; write USER:PASSWORD or a token there", ErrCredentials, file)
	}
	if user, password, ok := strings.Cut(line, ":"); ok {
		return Credentials{User: user, Password: password}, nil
	}
	return Credentials{Token: line}, nil
}

// Options of a client.
type Options struct {
	Credentials Credentials
	CAFile      string        // PEM certificates to trust besides the system's
	Pause       time.Duration // least time between two requests; 0: a second
	Share       float64       // share of the time that answers may take in the long run, after Meter was called; 0: a hundredth
	Timeout     time.Duration // of a request; 0: 30 s
}

// API is an API of servers.
type API struct {
	Path string // relative to a server's address, such as /api/v1/
	Name string // in errors, such as Spark's REST API
}

// Client sends requests to one API of one server, one at a time and never more often than its pause. It must not be used
// concurrently.
type Client struct {
	api   API
	base  *url.URL
	http  *http.Client
	auth  string
	pause time.Duration
	limit time.Duration // for requests of JSON; a log may take as long as it needs
	last  time.Time
	Asked int // requests so far

	share   float64
	trip    atomic.Int64 // shortest time to connect, in nanoseconds; 0: no connection yet
	metered time.Time    // time of the debt; zero: answers are not counted yet
	debt    time.Duration
}

// The load on a server is bounded by a leaky bucket: an answer adds the time that it took beyond the round trip, a share of the
// elapsed time drains, and while the level exceeds what is allowed no requests are sent.
const (
	share = 0.01
	// allowed is how much longer the first tens of answers of a JVM take than later ones, while their code is compiled: 0.3
	// to 0.6 s for Spark 3.5.
	allowed = time.Second
	// longest bounds the pause: on an overloaded machine answers take long without costing as much, and a watch must continue
	// to be useful.
	longest = 10 * time.Second
	// forgotten is the time after which all debt is cancelled, however slow the server was before.
	forgotten = time.Minute
)

var (
	// ErrURL is returned for an address that cannot be a server's.
	ErrURL = errors.New("address")
	// ErrForbidden is returned if the server requires other credentials.
	ErrForbidden = errors.New("not allowed")
	// ErrNotFound is returned if the server does not know the requested path.
	ErrNotFound = errors.New("not found")
)

// New returns a client for an API of the server at an address such as http://host:4040 or http://history:18080/prefix.
func New(address string, api API, o Options) (*Client, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %q is not a URL", ErrURL, withoutLogin(address))
	case u.User != nil:
		return nil, fmt.Errorf("%w: %s has a login in it, which others can see in the list of processes; give it in the environment or a file", ErrURL, u.Redacted())
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("%w: %q is not of the form http://HOST:PORT", ErrURL, withoutLogin(address))
	}
	u.Path, u.RawQuery, u.Fragment = strings.TrimSuffix(u.Path, "/"), "", ""
	c := &Client{api: api, base: u, pause: o.Pause, limit: o.Timeout, share: o.Share}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: c.dial,
		MaxIdleConns: 1, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: 10 * time.Second,
		ResponseHeaderTimeout: 5 * time.Minute} // a History Server reads a large log before it answers
	if o.CAFile != "" {
		if transport.TLSClientConfig, err = trust(o.CAFile); err != nil {
			return nil, err
		}
	}
	jar, err := cookiejar.New(nil) // proxies and logins set cookies
	if err != nil {
		return nil, err
	}
	c.http = &http.Client{Transport: transport, Jar: jar}
	if c.share == 0 {
		c.share = share
	}
	if c.pause == 0 {
		c.pause = time.Second
	}
	if c.limit == 0 {
		c.limit = 30 * time.Second
	}
	switch k := o.Credentials; {
	case k.Token != "":
		c.auth = "Bearer " + k.Token
	case k.User != "":
		c.auth = "Basic " + base64.StdEncoding.EncodeToString([]byte(k.User+":"+k.Password))
	}
	return c, nil
}

// withoutLogin returns an address that cannot be parsed, without what may be a login.
func withoutLogin(address string) string {
	if n := strings.LastIndexByte(address, '@'); n >= 0 {
		return "…" + address[n:]
	}
	return address
}

// trust returns a configuration that trusts the certificates in a file besides the system's.
func trust(file string) (*tls.Config, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%w: certificates: %w", ErrURL, err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%w: certificates: %s holds none in PEM form", ErrURL, file)
	}
	return &tls.Config{RootCAs: pool}, nil
}

// Address returns the server's address, without the path of the API.
func (c *Client) Address() string { return c.base.String() }

// Pause returns how long to wait before polling again: the least time between two requests, or longer while answers have
// taken more than their share of the time.
func (c *Client) Pause() time.Duration {
	c.settle(0)
	over := time.Duration(float64(c.debt-allowed) / c.share)
	return max(c.pause, min(over, longest))
}

// Meter counts the cost of answers from now on. The cost of earlier ones, while the server loads the code for them, is paid
// once, whenever they are requested.
func (c *Client) Meter() {
	if c.metered.IsZero() {
		c.metered = time.Now()
	}
}

// settle adds the cost of an answer.
func (c *Client) settle(cost time.Duration) {
	if c.metered.IsZero() {
		return
	}
	now := time.Now()
	c.debt = max(c.debt-time.Duration(c.share*float64(now.Sub(c.metered))), 0) + max(cost, 0)
	c.debt = min(c.debt, allowed+time.Duration(c.share*float64(forgotten)))
	c.metered = now
}

// dial opens a connection and measures the round trip.
func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	began := time.Now()
	conn, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, network, address)
	if took, old := int64(time.Since(began)), c.trip.Load(); err == nil && (old == 0 || took < old) {
		c.trip.Store(took)
	}
	return conn, err
}

// Unthrottle shortens the pause and counts no cost, for a server that nothing else depends on.
func (c *Client) Unthrottle(pause time.Duration) {
	c.pause, c.share, c.debt = min(c.pause, pause), 1, 0
}

// Close closes the connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// wait waits until the next request may be made.
func (c *Client) wait(ctx context.Context) error {
	left := c.pause - time.Since(c.last)
	if left > 0 {
		t := time.NewTimer(left)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	c.last = time.Now()
	return ctx.Err()
}

// maxAnswer bounds an answer. A thousand tasks take about 2 MB.
const maxAnswer = 64 << 20

// Get requests a path of the API and decodes the answer. An error that Is live.ErrAway may be retried.
func (c *Client) Get(ctx context.Context, path string, query url.Values, into any) error {
	if err := c.wait(ctx); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	defer func() { c.settle(time.Since(c.last) - time.Duration(c.trip.Load())) }()
	body, err := c.open(limited, path, query, "application/json")
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return fmt.Errorf("%w: %s did not answer within %s", live.ErrAway, c.base, c.limit)
	case err != nil:
		return err
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxAnswer+1))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return fmt.Errorf("%w: %s%s%s: the answer was not complete within %s", live.ErrAway, c.base, c.api.Path, path, c.limit)
	case err != nil:
		return fmt.Errorf("%w: %s%s%s: the answer broke off: %w", live.ErrAway, c.base, c.api.Path, path, err)
	case len(text) > maxAnswer:
		return fmt.Errorf("%w: %s%s%s: the answer is larger than %d MiB", live.ErrAway, c.base, c.api.Path, path, maxAnswer>>20)
	}
	if isPage(text) {
		if warns(text) && !query.Has(approval) {
			approved := maps.Clone(query)
			if approved == nil {
				approved = url.Values{}
			}
			approved.Set(approval, "true")
			return c.Get(ctx, path, approved, into)
		}
		return fmt.Errorf("%w: %s%s%s does not answer with JSON of %s but with a web page, such as a proxy's or a login's%s",
			live.ErrAway, c.base, c.api.Path, path, c.api.Name, title(text))
	}
	err = json.Unmarshal(text, into)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		what := "it"
		if kind.Field != "" {
			what = strconv.Quote(kind.Field)
		}
		return fmt.Errorf("%w: %s%s%s does not answer with JSON of %s: %s is of type %s", live.ErrAway, c.base, c.api.Path, path, c.api.Name, what, kind.Value)
	case err != nil:
		return fmt.Errorf("%w: %s%s%s does not answer with JSON of %s: %w", live.ErrAway, c.base, c.api.Path, path, c.api.Name, err)
	}
	return nil
}

// Stream requests something without a time limit, such as a log, and returns its body.
func (c *Client) Stream(ctx context.Context, path, accept string) (io.ReadCloser, error) {
	if err := c.wait(ctx); err != nil {
		return nil, err
	}
	return c.open(ctx, path, nil, accept)
}

// open sends a request at once and returns the body of a successful answer.
func (c *Client) open(ctx context.Context, path string, query url.Values, accept string) (io.ReadCloser, error) {
	u := *c.base
	u.Path += c.api.Path + path
	u.RawQuery = query.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrURL, err)
	}
	r.Header.Set("Accept", accept)
	if c.auth != "" {
		r.Header.Set("Authorization", c.auth)
	}
	c.Asked++
	answer, err := c.http.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var certificate *tls.CertificateVerificationError
		if errors.As(err, &certificate) {
			return nil, fmt.Errorf("%w: %s: its certificate is not trusted (%v); name its authority's with --ca", ErrForbidden, c.base, certificate.Err)
		}
		var request *url.Error
		if errors.As(err, &request) {
			err = request.Err
		}
		return nil, fmt.Errorf("%w: %s: %w", live.ErrAway, c.base, err)
	}
	if answer.StatusCode == http.StatusOK {
		return answer.Body, nil
	}
	defer answer.Body.Close()
	switch s := answer.StatusCode; s {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		if wantsKerberos(answer) {
			return nil, fmt.Errorf("%w: %s answers %s and requires Kerberos (SPNEGO), which straggler does not support; use a gateway in front of it that takes a password or a token, such as Knox", ErrForbidden, c.base, answer.Status)
		}
		return nil, fmt.Errorf("%w: %s answers %s%s; give credentials in STRAGGLER_REST_TOKEN, or STRAGGLER_REST_USER and STRAGGLER_REST_PASSWORD, or with --credentials FILE", ErrForbidden, c.base, answer.Status, reason(answer))
	case http.StatusNotFound:
		return nil, fmt.Errorf("%w: %s%s%s", ErrNotFound, c.base, c.api.Path, path)
	default:
		return nil, fmt.Errorf("%w: %s answers %s%s", live.ErrAway, c.base, answer.Status, reason(answer))
	}
}
