package serve

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"log"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// guard checks every request.
type guard struct {
	token   [sha256.Size]byte
	locked  bool // a token is needed
	proxies []netip.Addr
	names   []string // hosts that a request may be for
	anyIP   bool     // or for any address in digits: the server listens on all of them
	origins *http.CrossOriginProtection
	busy    chan struct{} // an element for each request under way
}

// Limits of requests. Pages are built by a few engines, so more requests at once would only wait.
const (
	mostRequests = 512
	mostBody     = 1 << 20 // bytes
	mostTime     = 5 * time.Minute
)

func newGuard(host string, o Options) *guard {
	g := &guard{locked: o.Token != "", token: sha256.Sum256([]byte(o.Token)), proxies: o.Proxies,
		busy: make(chan struct{}, mostRequests), origins: http.NewCrossOriginProtection()}
	for _, h := range o.Hosts {
		g.names = append(g.names, strings.ToLower(h))
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case isLoopback(host):
		g.names = append(g.names, "localhost", "127.0.0.1", "::1", host)
	case host == "" || err == nil && ip.IsUnspecified():
		g.anyIP = true
	default:
		g.names = append(g.names, strings.ToLower(host))
	}
	return g
}

// contentPolicy lets a page load its own style sheets, scripts and data, and nothing else from anywhere.
const contentPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// around returns a handler that checks a request before h.
func (g *guard) around(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"Content-Security-Policy": contentPolicy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
			"Cross-Origin-Opener-Policy":   "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store", "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
		} {
			w.Header().Set(name, value)
		}
		if code, reason := g.refuse(r); code != 0 {
			if code == http.StatusUnauthorized {
				w.Header().Set("WWW-Authenticate", `Basic realm="straggler", charset="UTF-8"`)
			}
			http.Error(w, reason, code)
			return
		}
		select {
		case g.busy <- struct{}{}:
			defer func() { <-g.busy }()
		default:
			w.Header().Set("Retry-After", "2")
			http.Error(w, "The server is busy; ask again in a moment.", http.StatusServiceUnavailable)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), mostTime)
		defer cancel()
		defer survive(w, r)
		r.Body = http.MaxBytesReader(w, r.Body, mostBody)
		h.ServeHTTP(w, r.WithContext(ctx))
	})
}

// refuse returns the status for a refused request; 0 if it is allowed.
func (g *guard) refuse(r *http.Request) (code int, reason string) {
	if len(g.proxies) > 0 {
		peer, err := netip.ParseAddrPort(r.RemoteAddr)
		if err != nil || !slices.Contains(g.proxies, peer.Addr().Unmap()) {
			return http.StatusForbidden, "Only the reverse proxy of this server may connect to it."
		}
	}
	if !g.allows(r.Host) {
		return http.StatusMisdirectedRequest, "This server does not have the requested name. If it is yours, start it with --host NAME."
	}
	if g.locked && !g.hasToken(r) {
		return http.StatusUnauthorized, "A token is needed: as the password of any user, or in the header Authorization: Bearer TOKEN."
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		// Another site may link to a page, but must not make a browser send requests without its user's intent.
		if site := r.Header.Get("Sec-Fetch-Site"); (site == "cross-site" || site == "same-site") && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
			return http.StatusForbidden, "Other sites may link to this one and no more."
		}
	default:
		if err := g.origins.Check(r); err != nil {
			return http.StatusForbidden, "Other sites may not send anything to this one."
		}
	}
	return 0, ""
}

// allows reports whether a request names a host of this server, and not a foreign name that resolves to it (DNS rebinding).
func (g *guard) allows(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if slices.Contains(g.names, host) {
		return true
	}
	_, err := netip.ParseAddr(host)
	return g.anyIP && err == nil
}

func (g *guard) hasToken(r *http.Request) bool {
	_, given, basic := r.BasicAuth()
	if !basic {
		var ok bool
		if given, ok = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); !ok {
			return false
		}
	}
	sum := sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1
}

// survive answers for a handler that panicked.
func survive(w http.ResponseWriter, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler {
		panic(p)
	}
	log.Printf("straggler: internal error, please report it: %s %q: %v\n%s", r.Method, r.URL.Path, p, debug.Stack())
	http.Error(w, "Internal error; the log of the server has the details. Other pages may work.", http.StatusInternalServerError)
}
