package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"straggler/analysis"
	"straggler/bucket/location"
	"straggler/engine"
	"straggler/engine/engines"
	"straggler/ingest/formats"
	"straggler/ingest/remote"
	"straggler/live"
	"straggler/live/eventlog"
	"straggler/live/rest"
	"straggler/live/screen"
	"straggler/live/sparkrest"
	"straggler/live/yarn"
	"straggler/report"
	"straggler/schema"
	"straggler/selection"
	"straggler/serve/running"
	"straggler/spelling"
	"straggler/store"
	"straggler/whatif/policy"
)

type watchOptions struct {
	app      string
	store    string
	policies []string
	settings []string
	every    time.Duration
	patience time.Duration
	login    restLogin
	notify   notifyOptions
	output   output
}

// watchedPolicies are the policies shown by default for a running application.
var watchedPolicies = []string{"late", "mantri", "dolly", "spark"}

// restLogin has the credentials for a server's REST API.
type restLogin struct{ credentials, ca string }

func (l *restLogin) flags(c *cobra.Command) {
	c.Flags().StringVar(&l.credentials, "credentials", "", "`FILE` whose first line is USER:PASSWORD or a token")
	c.Flags().StringVar(&l.ca, "ca", "", "`FILE` of PEM certificates to trust besides the system's")
}

func (l *restLogin) options(pause time.Duration) (rest.Options, error) {
	credentials, err := rest.ReadCredentials(l.credentials, os.Getenv)
	if err != nil {
		return rest.Options{}, useError("%v", err)
	}
	return rest.Options{Credentials: credentials, CAFile: l.ca, Pause: pause}, nil
}

func watchCommand(e *env) *cobra.Command {
	var o watchOptions
	c := &cobra.Command{
		Use:   "watch URL | LOG",
		Short: "Show the slow tasks of a running application, their likely causes, and what policies would do now",
		Long: `Watch follows a running application and shows the stages that run, their slow tasks with the time at which each is expected
to end and its likely cause so far, slow machines, and what each policy would do now, with the time that a copy of a task is
expected to save. It changes nothing.

What can be watched:

  a Spark driver or History Server       http://driver:4040, http://history:18080
  a YARN resource manager                http://manager:8088; recognised by port 8088 or 8090, or by /cluster or
                                         /proxy/APPLICATION in the URL. It is asked for the address of the application's
                                         Spark driver or MapReduce application master
  a log that is still being written      an .inprogress file, a rolling log, or a directory or URL with such logs

A server is polled at most once a second (--every), and less often if answering takes it more than a hundredth of the time. A
log is read again whenever it has grown; Spark buffers its log and does not log what running tasks have read, so slow tasks
are recognised later there.

On a terminal the view is redrawn; in a pipe only what is new is written, line by line; --as jsonl writes one JSON object per
line for every stage, slow task, machine and decision. When the application ends, a report on it is printed, or written to
-o FILE; after Ctrl-C there is none. With --store, what the store knows about the machines is used, and what was seen is added
to it in one commit.

Spark's executors report every 10 s what each task has read, but not how much it will read. The progress of a task is therefore
estimated from tasks that have ended, and the error of earlier estimates is shown. MapReduce tasks report their progress; the
application master is asked about single tasks up to ten times per INTERVAL.

Credentials come from STRAGGLER_REST_TOKEN, or STRAGGLER_REST_USER and STRAGGLER_REST_PASSWORD, or from --credentials FILE.`,
		Example: `  straggler watch http://driver:4040
  straggler watch http://history:18080 --app application_1555004656427_0144
  straggler watch http://manager:8088/proxy/application_1555004656427_0144
  straggler watch http://driver:4040 --as jsonl
  straggler watch /shared/eventlogs --app application_1555004656427_0144
  straggler watch http://driver:4040 --policy late,spark --set late.cap=0.2 --store lake -o report.html`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return runWatch(c.Context(), e, o, args[0]) },
	}
	c.Flags().StringVar(&o.app, "app", "", "watch the application of this `ID`; without it the one that runs")
	c.Flags().StringSliceVar(&o.policies, "policy", watchedPolicies, "ask these `POLICIES`, comma separated; straggler whatif --list lists them")
	c.Flags().StringArrayVar(&o.settings, "set", nil, "set an option, such as `late.cap=0.2`; may be repeated")
	c.Flags().DurationVar(&o.every, "every", time.Second, "at least `INTERVAL` between two requests")
	c.Flags().DurationVar(&o.patience, "patience", time.Minute, "keep asking a server that has stopped answering for `INTERVAL`")
	c.Flags().StringVar(&o.store, "store", "", "`DIR` or URL of a store: its machines are known, and what was seen is added to it")
	cacheFlag(c, e)
	o.login.flags(c)
	o.notify.flags(c)
	c.Flags().StringVarP(&o.output.file, "output", "o", "-",
		"write the report of what was seen to `FILE`, whose extension picks the encoding: html, md, json, text")
	c.Flags().StringVar(&o.output.as, "as", "text", "`ENCODING` of the view: text, jsonl")
	return c
}

func runWatch(ctx context.Context, e *env, o watchOptions, address string) error {
	show, err := o.view(e)
	if err != nil {
		return err
	}
	rendering, err := pickRendering(output{file: o.output.file}, e.renderings())
	if err != nil {
		return err
	}
	if rendering.name == trace {
		return useError("-o %s: watch writes reports; straggler report --store DIR writes timelines", o.output.file)
	}
	policies, err := policy.Choose(o.policies, o.settings, nil, nil)
	if err != nil {
		return useError("%v", err)
	}
	sender, err := o.notify.sender()
	if err != nil {
		return err
	}
	src, err := o.source(address)
	if err != nil {
		return err
	}
	defer src.Close()
	st, err := e.openOrTemp(ctx, o.store, true)
	if err != nil {
		return err
	}
	defer st.Close()
	health, err := e.machineHealth(ctx, st, o.store)
	if err != nil {
		return err
	}
	w := live.New(live.Options{Policies: policies, Health: health})
	var written error
	tell := e.notifyFrames(ctx, sender)
	watching, stop := context.WithCancel(ctx)
	defer stop()
	last, err := live.Run(watching, src, w, live.RunOptions{
		Show: func(f *live.Frame) {
			if written = show(f); written != nil { // nobody can see any more of it
				stop()
			}
			tell(f)
		},
		Away:    func(err error) { e.say("%s; asking again", oneMessage(err)) },
		AwayFor: o.patience,
	})
	if last != nil && o.store != "" { // also of what was interrupted: in one commit, or not at all
		err = errors.Join(err, live.Keep(context.WithoutCancel(ctx), st, last, version))
	}
	if err = errors.Join(err, written); err != nil {
		return err
	}
	if o.output.as == "jsonl" && !o.output.toFile() {
		return nil
	}
	return e.reportWatched(ctx, st, last, o, rendering)
}

// reportWatched writes a report on the observed rows.
func (e *env) reportWatched(ctx context.Context, st *store.Store, last *live.State, o watchOptions, r rendering[*report.Document]) error {
	if o.store == "" {
		if err := live.Keep(ctx, st, last, version); err != nil {
			return err
		}
	}
	a, err := e.analysed(ctx, st, analysis.Options{Explain: true})
	if err != nil {
		return err
	}
	defer a.Close()
	return e.write(output{file: o.output.file}, func(w io.Writer) error {
		doc, err := e.document(ctx, a, report.Options{Store: o.store, Apps: selection.Applications{Named: last.Trace.Applications[0].NativeID}, Top: 50})
		if err != nil {
			return err
		}
		return r.write(w, doc)
	})
}

// followed is a growing log, possibly in a bucket.
type followed struct {
	*eventlog.Source
	client *remote.Client
}

func (f *followed) Close() { f.client.Close() }

// host is an address without its scheme, or with a login.
var host = regexp.MustCompile(`^([\w.-]+:\d+|[\w.+-]+://.*@.*)$`)

// source returns the source for an address.
func (o *watchOptions) source(address string) (running.Source, error) {
	if !isServer(address) {
		if host.MatchString(address) {
			return nil, useError("%s: write the address of a driver as http://HOST:PORT", address)
		}
		if location.IsURL(address) {
			if err := remote.Check(address); err != nil {
				return nil, fmt.Errorf("%s: %w", address, err)
			}
		} else if _, err := os.Stat(address); err != nil {
			return nil, fmt.Errorf("%w: %w", errUnread, err)
		}
		client := remote.New(remote.Options{})
		return &followed{eventlog.New(address, o.app, formats.All(), client), client}, nil
	}
	options, err := o.login.options(o.every)
	if err != nil {
		return nil, err
	}
	if o.every < time.Second {
		return nil, useError("--every %s: a driver is polled once a second at most", o.every)
	}
	if manager, app, ok := yarn.Manager(address); ok {
		return yarn.New(manager, cmp.Or(o.app, app), options)
	}
	server, app := splitApplication(address)
	o.app = cmp.Or(o.app, app)
	client, err := rest.New(server, sparkrest.API, options)
	if err != nil {
		return nil, err
	}
	return sparkrest.NewSource(client, o.app), nil
}

func isServer(address string) bool {
	return strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://")
}

// splitApplication takes the id of an application off the end of an address: http://history:18080/app-20261122.
func splitApplication(address string) (server, app string) {
	u, err := url.Parse(address)
	if err != nil {
		return address, ""
	}
	path := strings.TrimSuffix(u.Path, "/")
	n := strings.LastIndexByte(path, '/')
	if n < 0 || !applicationID.MatchString(path[n+1:]) {
		return address, ""
	}
	app, u.Path = path[n+1:], strings.TrimSuffix(path[:n], "/history")
	return u.String(), app
}

// applicationID matches the ids that Spark's masters give applications: app-20261122143010-0000,
// application_1555004656427_0144, local-1422981759269, spark-0123456789abcdef.
var applicationID = regexp.MustCompile(`^(app-\d|application_\d|local-\d|spark-[0-9a-f]|driver-)[\w-]*$`)

// view shows frames.
func (o *watchOptions) view(e *env) (func(*live.Frame) error, error) {
	switch o.output.as {
	case "text":
		t := &screen.Text{W: e.out, Terminal: e.outTerminal, Color: e.color, Width: e.width(), Height: 24}
		if _, height, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
			t.Height = height
		}
		return t.Show, nil
	case "jsonl":
		return (&screen.JSON{W: e.out}).Show, nil
	}
	return nil, useError("--as %s: no such encoding; %s", o.output.as, spelling.Choices(o.output.as, []string{"text", "jsonl"}))
}

// healthQuery reads the health of machines over all applications.
const healthQuery = "SELECT * FROM machine_health WHERE application_id IS NULL ORDER BY machine, window_start"

// machineHealth reads the health of a store's machines. It returns nil for a temporary store.
func (e *env) machineHealth(ctx context.Context, st *store.Store, name string) ([]schema.MachineHealth, error) {
	if name == "" {
		return nil, nil
	}
	eng, err := engines.Open(ctx, st, engine.Options{})
	if err != nil {
		return nil, err
	}
	defer eng.Close()
	var out []schema.MachineHealth
	for row, err := range engine.Read[schema.MachineHealth](ctx, eng, healthQuery) {
		if err != nil {
			return nil, err
		}
		out = append(out, *row)
	}
	return out, nil
}
