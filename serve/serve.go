package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"straggler/serve/catalog"
	"straggler/serve/running"
)

// Options configure who may use a server.
type Options struct {
	Listen  string       // host and port
	Token   string       // that every request must carry; "" for none
	Proxies []netip.Addr // the only addresses that may connect; none for any
	Hosts   []string     // names that the server is known by, beside those of its address
	Version string       // of straggler, for the pages
	MCP     http.Handler // answers assistants at /mcp; nil for none

	Running *running.Board // the applications that run; nil for none
}

// Server serves pages about the store of a catalog.
type Server struct {
	c     *catalog.Catalog
	o     Options
	guard *guard

	byPeriod func(context.Context) (*machinePeriods, bool, error)
	worst    func(context.Context) (worstOutliers, bool, error)
}

var (
	// ErrAddress is returned for an invalid address to listen on.
	ErrAddress = errors.New("not an address")
	// ErrExposed is returned for an address that others can reach and that neither a token nor a proxy protects.
	ErrExposed = errors.New("others can reach this address")
)

// Limits of a connection. Requests are small; an answer may take as long as the slowest query and download.
const (
	headerTime   = 10 * time.Second
	requestTime  = 30 * time.Second
	answerTime   = 10 * time.Minute
	idleTime     = 2 * time.Minute
	shutdownTime = 10 * time.Second
	headerBytes  = 64 << 10
)

// Check validates the options.
func (o *Options) Check() error {
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return fmt.Errorf("serve: %q is %w: write it as 127.0.0.1:8080", o.Listen, ErrAddress)
	}
	if !isLoopback(host) && o.Token == "" && len(o.Proxies) == 0 {
		return fmt.Errorf("serve: %s: %w: require a token with --token-file, or name the reverse proxy that authenticates users with --proxy", o.Listen, ErrExposed)
	}
	return nil
}

// New returns a server.
func New(c *catalog.Catalog, o Options) (*Server, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return nil, err
	}
	s := &Server{c: c, o: o, guard: newGuard(host, o)}
	s.byPeriod = catalog.Prepared(c, "machines by period", s.machinesByPeriod)
	s.worst = catalog.Prepared(c, "outliers by machine", s.outliersByMachine)
	return s, nil
}

// Serve serves requests until the context ends. Requests that are then running have some seconds to finish.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: headerTime, ReadTimeout: requestTime, WriteTimeout: answerTime, IdleTimeout: idleTime,
		MaxHeaderBytes: headerBytes, BaseContext: func(net.Listener) context.Context { return requests }}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	last, stop := context.WithTimeout(requests, shutdownTime)
	defer stop()
	err := server.Shutdown(last)
	if err != nil {
		cancel() // ends the queries of the requests that are left
		err = server.Close()
	}
	<-ended
	return err
}

// isLoopback reports whether only programs on this machine can reach a host.
func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
