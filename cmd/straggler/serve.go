package main

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"straggler/bucket/location"
	"straggler/ingest/discover"
	"straggler/ingest/formats"
	"straggler/ingest/remote"
	"straggler/live"
	"straggler/live/yarn"
	"straggler/mcp"
	"straggler/schema"
	"straggler/serve"
	"straggler/serve/catalog"
	"straggler/serve/running"
	"straggler/store"
	"straggler/whatif/policy"
)

type serveOptions struct {
	store   string
	listen  string
	token   string
	proxies []string
	hosts   []string
	fixed   bool
	every   time.Duration
	watch   []string
	login   restLogin
	logs    logOptions
}

func serveCommand(e *env) *cobra.Command {
	var o serveOptions
	c := &cobra.Command{
		Use:   "serve [LOG…] [--store DIR]",
		Short: "Show logs or a store in a browser, including new logs",
		Long: `Serve watches logs and shows them at http://127.0.0.1:8080: a list of applications, the newest first, and for each the report
of straggler report, down to its jobs, phases and tasks. A LOG is a file, a directory, a pattern or a URL as for ingest. New
and growing logs are read within seconds, the newest first, into the store of --store or a temporary one. Without LOG it shows
a store and what other programs add to it.

Running applications have pages like the view of straggler watch: their running stages, slow tasks with expected end and likely
cause so far, and what each policy would do now. Growing logs without an end are followed automatically; --watch adds a Spark
driver, a History Server or a YARN resource manager to poll. When an application ends, its report replaces that page.
Credentials for those servers are read as by straggler watch.

Only programs on this machine can connect, unless --listen names another address. That requires a token, which browsers ask for
as the password of any user, or a reverse proxy that authenticates users. Use TLS in front of it.

Assistants can use the same server at /mcp; see straggler mcp --help.`,
		Example: `  straggler serve eventlogs
  straggler serve eventlogs --store lake --listen 127.0.0.1:9000
  straggler serve eventlogs --watch http://driver:4040
  straggler serve --store lake --listen 0.0.0.0:8080 --token-file token.txt --host straggler.example.com`,
		RunE: func(c *cobra.Command, args []string) error { return runServe(c.Context(), e, o, args) },
	}
	f := c.Flags()
	f.StringVar(&o.store, "store", "", "`DIR` or URL of a store to use and to keep; without it a temporary one")
	cacheFlag(c, e)
	f.StringVar(&o.listen, "listen", "127.0.0.1:8080", "`HOST:PORT` to listen on")
	f.StringVar(&o.token, "token-file", "", "`FILE` with a token of at least 16 characters that every request must carry")
	f.StringSliceVar(&o.proxies, "proxy", nil, "`IP` of a reverse proxy that authenticates users: nobody else may connect")
	f.StringSliceVar(&o.hosts, "host", nil, "`NAME` by which browsers reach the server, if it is not the address of --listen")
	f.BoolVar(&o.fixed, "fixed", false, "change nothing in the store: outdated results are shown as they are")
	f.DurationVar(&o.every, "every", 2*time.Second, "look for new logs and commits every `INTERVAL`")
	f.StringArrayVar(&o.watch, "watch", nil,
		"show running applications at `URL`: a driver, a History Server, a resource manager, or a directory of logs; may be repeated")
	o.login.flags(c)
	o.logs.flags(f)
	return c
}

func runServe(ctx context.Context, e *env, o serveOptions, logs []string) error {
	server, err := o.options()
	if err != nil {
		return err
	}
	endpoints, more, err := o.endpoints()
	if err != nil {
		return err
	}
	logs = append(logs, more...)
	if len(logs) == 0 && len(endpoints) == 0 && o.store == "" {
		return useError("name a log, a server to watch with --watch URL, or a store with --store DIR")
	}
	if o.fixed && len(logs) > 0 {
		return useError("--fixed changes nothing in the store, so there is nowhere to read logs into; give one or the other")
	}
	for _, log := range logs {
		if _, err := os.Stat(log); errors.Is(err, fs.ErrNotExist) && log != "-" && !location.IsURL(log) && !discover.IsPattern(log) {
			return useError("%s: there is no such file or directory; logs that appear later are read if their directory is named", log)
		}
	}
	if o.every < time.Second {
		return useError("--every %s: give an interval of at least 1s", o.every)
	}
	client := remote.New(remote.Options{})
	defer client.Close()
	c, closeStore, err := o.catalog(ctx, e, logs, client)
	if err != nil {
		return err
	}
	defer closeStore()
	defer c.Close()
	if server.Running, err = o.running(c, logs, endpoints, client); err != nil {
		return err
	}
	server.MCP = mcp.New(c, version).Handler()
	s, err := serve.New(c, server)
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", server.Listen)
	if err != nil {
		return useError("--listen: %v; name another address, such as 127.0.0.1:8081", err)
	}
	e.say("straggler: http://%s", l.Addr())
	return serveUntil(ctx, c, server.Running, s, l)
}

// serveUntil answers requests and keeps the catalog up to date until the context ends, which is not an error.
func serveUntil(ctx context.Context, c *catalog.Catalog, b *running.Board, s *serve.Server, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watched := make(chan error, 1)
	go func() {
		err := c.Run(ctx)
		if err != nil {
			cancel()
		}
		watched <- err
	}()
	followed := make(chan struct{})
	go func() { defer close(followed); b.Run(ctx) }()
	err := s.Serve(ctx, l)
	cancel()
	<-followed
	if watching := <-watched; watching != nil {
		return watching
	}
	return err
}

// options returns the options of the server.
func (o *serveOptions) options() (serve.Options, error) {
	s := serve.Options{Listen: o.listen, Hosts: o.hosts, Version: version}
	for _, p := range o.proxies {
		ip, err := netip.ParseAddr(p)
		if err != nil {
			return s, useError("--proxy %q: give the address of the proxy as digits, such as 10.0.0.7", p)
		}
		s.Proxies = append(s.Proxies, ip.Unmap())
	}
	if o.token == "" {
		return s, s.Check()
	}
	text, err := os.ReadFile(o.token)
	if err != nil {
		return s, useError("--token-file: %v", err)
	}
	if s.Token = strings.TrimSpace(string(text)); len(s.Token) < 16 {
		return s, useError("--token-file %s: the token has %s; give at least 16, such as those of openssl rand -hex 16", o.token,
			count(len(s.Token), "character"))
	}
	return s, s.Check()
}

// endpoints returns the servers to watch, and the logs that --watch names.
func (o *serveOptions) endpoints() (endpoints []running.Endpoint, logs []string, err error) {
	options, err := o.login.options(0)
	if err != nil {
		return nil, nil, err
	}
	for _, address := range o.watch {
		var p running.Endpoint
		manager, app, isManager := yarn.Manager(address)
		switch {
		case !isServer(address) && host.MatchString(address):
			return nil, nil, useError("--watch %s: write the address of a driver as http://HOST:PORT", address)
		case !isServer(address):
			logs = append(logs, address)
			continue
		case isManager:
			p, err = running.YARN(manager, app, options)
		default:
			server, app := splitApplication(address)
			p, err = running.Spark(server, app, options)
		}
		if err != nil {
			return nil, nil, useError("--watch: %v", err)
		}
		endpoints = append(endpoints, p)
	}
	return endpoints, logs, nil
}

// running returns the watcher of running applications, from servers and growing logs.
func (o *serveOptions) running(c *catalog.Catalog, logs []string, endpoints []running.Endpoint, client *remote.Client) (*running.Board, error) {
	policies, err := policy.Choose(watchedPolicies, nil, nil, nil)
	if err != nil {
		return nil, err
	}
	if len(logs) > 0 {
		endpoints = append(endpoints, running.Logs(func() []running.Log {
			var out []running.Log
			for _, a := range c.Written() {
				out = append(out, running.Log{Application: a.NativeID, Path: a.SourceFile})
			}
			return out
		}, formats.All(), client))
	}
	b := running.Options{Endpoints: endpoints, Policies: policies, Health: func(ctx context.Context) ([]schema.MachineHealth, error) {
		return catalog.Read[schema.MachineHealth](ctx, c, healthQuery)
	}}
	if !o.fixed {
		b.Keep = func(ctx context.Context, last *live.State) error { return keepUnlessLogged(ctx, c, last) }
	}
	return running.New(b), nil
}

// keepUnlessLogged stores the observed rows of an application, unless its log is read as well.
func keepUnlessLogged(ctx context.Context, c *catalog.Catalog, last *live.State) error {
	apps, _ := c.Applications()
	for i := range apps {
		if len(last.Trace.Applications) > 0 && apps[i].NativeID == last.Trace.Applications[0].NativeID {
			return nil
		}
	}
	return c.Change(ctx, func(ctx context.Context, st *store.Store) error { return live.Keep(ctx, st, last, version) })
}

// catalog opens the store of a server, twice: to write to it, and for what pages show.
func (o *serveOptions) catalog(ctx context.Context, e *env, logs []string, client discover.Remote) (_ *catalog.Catalog, closeStore func(), err error) {
	open := e.makeStore
	switch {
	case o.store == "":
		open = func(ctx context.Context, _ string) (*store.Store, error) { return store.Temp(ctx) }
	case o.fixed:
		open = e.openStore
	case len(logs) == 0:
		open = e.changedStore
	}
	st, err := open(ctx, o.store)
	if err != nil {
		return nil, nil, err
	}
	closeStore = func() { st.Close() }
	shown, err := e.openStore(ctx, st.Where())
	if err == nil {
		in := o.logs.options()
		in.Remote = client
		var c *catalog.Catalog
		c, err = catalog.Open(ctx, catalog.Options{Store: st, Shown: shown, Fixed: o.fixed, Logs: logs, Formats: formats.All(),
			Ingest: in, Tool: version, Every: o.every})
		if err == nil {
			return c, closeStore, nil
		}
	}
	closeStore()
	return nil, nil, err
}
