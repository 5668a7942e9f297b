package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"straggler/analysis"
	"straggler/audit"
	"straggler/audit/baseline"
	"straggler/audit/measure"
	"straggler/audit/render"
	"straggler/openmetrics"
	"straggler/schema"
	"straggler/selection"
	"straggler/spelling"
)

// errFound is returned when a check found something.
var errFound = errors.New("the check found something")

type auditOptions struct {
	logs                                 logOptions
	store, config, baseline, groupBy     string
	apps                                 selectionFlags
	explain, reason                      string
	accept                               []string
	update, failLearning, schema, github bool
	junit, sarif, metrics                string
	dashboard                            bool
	notify                               notifyOptions
	output                               output
}

// renderings of a night; the first is for terminals.
func (o *auditOptions) renderings(e *env) []rendering[*audit.Night] {
	return []rendering[*audit.Night]{
		{"text", ".txt", func(w io.Writer, n *audit.Night) error { return render.Text(w, n, e.color && !o.output.toFile()) }},
		{"json", ".json", render.JSON},
		{"md", ".md", render.Markdown},
	}
}

func auditCommand(e *env) *cobra.Command {
	var o auditOptions
	c := &cobra.Command{
		Use:   "audit {LOG… | --store DIR} --baseline FILE",
		Short: "Compare tonight's run with earlier runs, for CI: exit code 1 if it got worse",
		Long:  auditHelp(),
		Example: `  straggler audit eventlogs --baseline baseline.jsonl --update
  straggler audit eventlogs --baseline baseline.jsonl --junit audit.xml --sarif audit.sarif
  straggler audit --store lake --baseline baseline.jsonl -o audit.md
  straggler audit eventlogs --baseline baseline.jsonl --openmetrics straggler.prom
  straggler audit --dashboard -o dashboard.json
  straggler audit --store lake --baseline baseline.jsonl --since 2020-01-01
  straggler audit --explain stage_lost_time`,
		RunE: func(c *cobra.Command, args []string) error { return runAudit(c.Context(), e, o, args) },
	}
	f := c.Flags()
	f.StringVar(&o.store, "store", "", "`DIR` or URL of a store to use and to keep; without it a temporary one")
	cacheFlag(c, e)
	o.logs.flags(f)
	o.apps.withShort(f, "audit only")
	f.StringVar(&o.baseline, "baseline", "", "`FILE` of earlier runs; keep it under version control or in the CI's cache")
	configFlag(c, &o.config)
	f.StringVar(&o.groupBy, "group-by", "",
		"compare runs whose names have the same match of `PATTERN`, a regular expression, or of its first group; by default, runs with the same name apart from dates, ids and run numbers, except sessions under the default name of a shell")
	f.BoolVar(&o.update, "update", false, "add the run to the baseline")
	f.StringArrayVar(&o.accept, "accept", nil, "record that the finding of this `ID` is normal from now on")
	f.StringVar(&o.reason, "reason", "", "`TEXT` to record with --accept")
	f.BoolVar(&o.failLearning, "fail-while-learning", false, "fail for findings even while there are too few runs")
	f.StringVar(&o.junit, "junit", "", "write JUnit XML to `FILE` too")
	f.StringVar(&o.sarif, "sarif", "", "write SARIF 2.1.0 to `FILE` too")
	f.StringVar(&o.metrics, "openmetrics", "",
		"write lost seconds by cause, machine factors and findings to `FILE` for the textfile collector of Prometheus's node exporter")
	f.BoolVar(&o.dashboard, "dashboard", false, "write a Grafana dashboard on those metrics, and exit")
	o.notify.flags(c)
	f.BoolVar(&o.github, "github", false, "write GitHub annotations to standard output, and the Markdown to the file that GITHUB_STEP_SUMMARY names")
	f.StringVar(&o.explain, "explain", "", "explain what `RULE` compares, and exit")
	f.BoolVar(&o.schema, "schema", false, "write the JSON schema of straggler.yaml for editors, and exit")
	engineFlag(c, e)
	o.output.flags(c, encodingNames(o.renderings(e)))
	combinesOnly(f, "explain")
	combinesOnly(f, "schema", "output")
	combinesOnly(f, "dashboard", "output")
	needs(f, "reason", "accept")
	return c
}

func runAudit(ctx context.Context, e *env, o auditOptions, logs []string) error {
	switch answers := o.explain != "" || o.schema || o.dashboard; {
	case answers && len(logs) > 0:
		return useError("--explain, --schema and --dashboard have no use for %s", logs[0])
	case o.explain != "":
		return explain(e, o.explain)
	case o.schema:
		return e.write(o.output, func(w io.Writer) error { _, err := w.Write(audit.ConfigSchema()); return err })
	case o.dashboard:
		return e.write(o.output, func(w io.Writer) error { _, err := w.Write(openmetrics.Dashboard); return err })
	case o.baseline == "":
		return useError("name the baseline with --baseline FILE; it need not exist yet")
	case len(logs) == 0 && o.store == "" && len(o.accept) == 0:
		return useError("name a log, or a store with --store DIR")
	}
	return auditRuns(ctx, e, o, logs)
}

// auditRuns judges the runs of logs or of a store, and writes, stores and sends the findings.
func auditRuns(ctx context.Context, e *env, o auditOptions, logs []string) error {
	r, err := pickRendering(o.output, o.renderings(e))
	if err != nil {
		return err
	}
	cfg, grouping, err := o.configuration()
	if err != nil {
		return err
	}
	sender, err := o.notify.sender()
	if err != nil {
		return err
	}
	base, err := baseline.Read(o.baseline)
	if err != nil {
		return err
	}
	apps, err := o.apps.applications()
	if err != nil {
		return err
	}
	var night *audit.Night
	var runs []measure.Run
	judge := func(m *measured) (err error) {
		runs = m.runs
		night, err = audit.Judge(runs, base, cfg,
			audit.Options{Now: time.Now(), Tool: version, Baseline: o.baseline, Accept: o.accept, Reason: o.reason, Tasks: m.tasks})
		return err
	}
	var unread error
	if len(logs) > 0 || o.store != "" {
		unread, err = e.measure(ctx, measuring{o.store, logs, o.logs, apps, grouping}, judge)
	} else {
		err = judge(&measured{})
	}
	if err == nil {
		err = o.tell(e, r, night, cfg)
	}
	if err == nil && o.metrics != "" {
		err = writeFile(o.metrics, func(w io.Writer) error { return openmetrics.Write(w, openmetrics.Of(runs, night)) })
	}
	if err != nil {
		return err
	}
	e.notifyNight(ctx, sender, night, cfg, o.baseline)
	if err := cmp.Or(o.keep(night, base, cfg), unread); err != nil {
		return err
	}
	if night.Failing > 0 {
		return fmt.Errorf("%w: %s", errFound, count(night.Failing, "finding"))
	}
	return nil
}

// keep writes the baseline if --update is given, or findings are accepted.
func (o *auditOptions) keep(night *audit.Night, base *baseline.Baseline, cfg *audit.Config) error {
	if o.update {
		night.Update(base, cfg)
	}
	if !o.update && len(o.accept) == 0 {
		return nil
	}
	return base.Save(o.baseline)
}

// measured holds the runs of logs, or of a store, and a reader of their tasks.
type measured struct {
	runs  []measure.Run
	tasks func(...*measure.Run) error
}

// measuring selects the runs to measure: those of a store, to which logs are added first, if there are any.
type measuring struct {
	store string
	logs  []string
	in    logOptions
	apps  selection.Applications
	group measure.Grouping
}

// measure measures runs and passes them to use.
func (e *env) measure(ctx context.Context, m measuring, use func(*measured) error) (unread, err error) {
	st, err := e.openOrTemp(ctx, m.store, len(m.logs) > 0)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	if len(m.logs) > 0 {
		s, err := e.ingest(ctx, st, m.logs, m.in.options())
		if err != nil {
			return nil, err
		}
		unread = e.unread(&s)
	}
	a, err := e.analysed(ctx, st, analysis.Options{Explain: true})
	if err != nil {
		return nil, err
	}
	defer a.Close()
	eng := a.eng
	var keys []schema.Key
	if !m.apps.All() {
		if keys, err = m.apps.Keys(ctx, eng); err != nil {
			return nil, err
		}
	}
	runs, err := measure.Runs(ctx, eng, m.group, keys...)
	if err != nil {
		return nil, err
	}
	return unread, use(&measured{runs, func(of ...*measure.Run) error { return measure.Tasks(ctx, eng, of...) }})
}

func (o *auditOptions) configuration() (*audit.Config, measure.Grouping, error) {
	cfg, err := configured(o.config)
	if err != nil {
		return nil, measure.Grouping{}, err
	}
	if o.failLearning {
		cfg.FailWhileLearning = true
	}
	pattern := o.groupBy
	if pattern == "" {
		pattern = string(cfg.GroupBy)
	}
	g, err := measure.NewGrouping(pattern)
	return cfg, g, err
}

// tell writes the result in all requested encodings.
func (o *auditOptions) tell(e *env, r rendering[*audit.Night], n *audit.Night, cfg *audit.Config) error {
	err := e.write(o.output, func(w io.Writer) error { return r.write(w, n) })
	if o.junit != "" {
		err = errors.Join(err, writeFile(o.junit, func(w io.Writer) error { return render.JUnit(w, n, cfg) }))
	}
	if o.sarif != "" {
		err = errors.Join(err, writeFile(o.sarif, func(w io.Writer) error { return render.SARIF(w, n) }))
	}
	if o.github {
		err = errors.Join(err, render.Annotations(e.out, n, cfg))
	}
	if name := os.Getenv("GITHUB_STEP_SUMMARY"); name != "" && o.github {
		err = errors.Join(err, appendTo(name, func(w io.Writer) error { return render.Markdown(w, n) }))
	}
	return err
}

func appendTo(name string, body func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return useError("GITHUB_STEP_SUMMARY: %v", err)
	}
	w := bufio.NewWriter(f)
	return errors.Join(body(w), w.Flush(), f.Close())
}

func explain(e *env, name string) error {
	if r, ok := audit.RuleNamed(name); ok {
		return render.Explain(e.out, r)
	}
	var names []string
	for _, r := range audit.Rules() {
		names = append(names, r.Name)
	}
	return useError("--explain %s: no such rule; %s", name, spelling.Choices(name, names))
}
