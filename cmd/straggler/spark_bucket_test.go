package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"straggler/engine/spark/sparktest"
)

// s3aJars names a class path of Hadoop's S3 connector and its dependencies from Amazon's SDK; see .ci/run.
const s3aJars = "STRAGGLER_S3A_JARS"

// sparkBuckets configures a Spark that is yet to be started to read the buckets of an S3 server, and returns the environment
// for this program; nil if there are no jars, or if Spark is already running.
func sparkBuckets(t *testing.T, o *sparktest.Options) (env []string) {
	t.Helper()
	jars := os.Getenv(s3aJars)
	if jars == "" || os.Getenv(sparktest.Variable) != "" {
		return nil
	}
	for _, jar := range filepath.SplitList(jars) {
		if _, err := os.Stat(jar); err != nil {
			t.Fatal(err)
		}
	}
	settings := remoteSettings(t)
	o.Set = map[string]string{"spark.driver.extraClassPath": jars, "spark.executor.extraClassPath": jars,
		"spark.hadoop.fs.s3a.endpoint": settings["AWS_ENDPOINT_URL"], "spark.hadoop.fs.s3a.path.style.access": "true",
		"spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
		"spark.hadoop.fs.s3a.access.key":             settings["AWS_ACCESS_KEY_ID"], "spark.hadoop.fs.s3a.secret.key": settings["AWS_SECRET_ACCESS_KEY"]}
	settings["STRAGGLER_CACHE"] = t.TempDir()
	for name, value := range settings {
		env = append(env, name+"="+value)
		o.Set["spark.executorEnv."+name] = value // for executors in separate processes
	}
	o.Env = env // for executors inside the server
	return env
}

// objects returns the keys in the bucket lakes with a prefix.
func (c *verbCase) objects(t *testing.T, prefix string) []string {
	t.Helper()
	var found struct {
		Contents    []struct{ Key string }
		IsTruncated bool
	}
	if err := xml.Unmarshal(c.object(t, "?list-type=2&prefix="+prefix), &found); err != nil || found.IsTruncated {
		t.Fatal(err, found.IsTruncated)
	}
	var keys []string
	for _, o := range found.Contents {
		keys = append(keys, o.Key)
	}
	return keys
}

// object returns the server's answer about the bucket lakes; no credentials are needed.
func (c *verbCase) object(t *testing.T, what string) []byte {
	t.Helper()
	at := slices.IndexFunc(c.env, func(e string) bool { return strings.HasPrefix(e, "AWS_ENDPOINT_URL=") })
	_, endpoint, _ := strings.Cut(c.env[at], "=")
	answer, err := http.Get(endpoint + "/lakes/" + what)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", what, answer.Status, err)
	}
	return data
}

// onlyNamed checks that every file of a store's tables is named by a commit, that executors put at least far files of one
// table, and that no work in progress is left.
func (c *verbCase) onlyNamed(t *testing.T, prefix, table string, far int) {
	t.Helper()
	named := ""
	for _, key := range c.objects(t, prefix+"commits/") {
		named += string(c.object(t, key))
	}
	for _, key := range c.objects(t, prefix+"tables/") {
		if !strings.Contains(named, "\""+strings.TrimPrefix(key, prefix)+"\"") {
			t.Errorf("no commit names %s", key)
		}
		if byExecutor.MatchString(key) && strings.HasPrefix(key, prefix+"tables/"+table+"/") {
			far--
		}
	}
	if far > 0 {
		t.Errorf("%d files of %s more should have been put by executors", far, table)
	}
	if left := c.objects(t, prefix+"staging/"); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}

// byExecutor matches the name of a file put by an executor: the writer's id, and a random one.
var byExecutor = regexp.MustCompile(`/[0-9a-f]{12}-[A-Z2-7]{26}-[0-9]+\.parquet$`)

// sparkOnBucket: to Spark a store in a bucket is the same as one in a directory is to this process. It reads the store by s3a
// from an S3 server, and its executors write the same rows there. Rows that come through the server are the same too.
func sparkOnBucket(t *testing.T, server string, buckets []string) {
	if buckets == nil {
		t.Skip("runs with " + s3aJars)
	}
	c := newVerbCase(t, server)
	c.env = buckets
	const far = "s3://lakes/team"
	for _, lake := range []string{far, "near"} {
		c.straggler(t, 0, "ingest", "eventlogs", "--store", lake)
		for _, verb := range [][]string{{"detect"}, {"causes"}, {"whatif", "--policy", "late,spark", "--seeds", "2"}} {
			args := append(slices.Clone(verb), "--store", lake)
			if lake == far {
				args = append(args, c.engine(c.binary, ""))
			}
			c.straggler(t, 0, args...)
		}
	}
	for _, table := range []string{"attempts", "phase_stats", "outliers", "stage_history", "attributions", "machine_health", "job_costs", "whatif_runs", "whatif_savings"} {
		got, want := c.tableRows(t, far, table), c.tableRows(t, "near", table)
		if len(got) != len(want) || len(got) < 3 || !slices.EqualFunc(got, want, alikeRow) {
			t.Errorf("%s: %d lines in the bucket by Spark and %d in the directory by DuckDB, and not the same", table, len(got), len(want))
		}
	}
	// whatif has a single batch here, and replays it in this process
	for _, table := range []string{"phase_stats", "outliers", "attributions"} {
		c.onlyNamed(t, "team/", table, 1)
	}
	want := c.tableRows(t, far, "attributions")
	c.straggler(t, 0, "causes", "--again", "--store", far, c.engine("/nowhere/straggler", "&results=server"))
	if got := c.tableRows(t, far, "attributions"); !slices.EqualFunc(got, want, alikeRow) {
		t.Errorf("attributions: %d lines through the server and %d from executors, and not the same", len(got), len(want))
	}
	c.straggler(t, 0, "ingest", "eventlogs", "--store", "s3://lakes/read", "--shards", "3", c.engine(c.binary, ""))
	if got := c.tableRows(t, "s3://lakes/read", "attempts"); !slices.Equal(got, c.tableRows(t, "near", "attempts")) {
		t.Errorf("%d lines of attempts that executors read into the bucket", len(got))
	}
	if out, _ := c.straggler(t, 0, "sql", "--store", far, c.engine(c.binary, ""), "SELECT count(*) AS n FROM attempts", "--as", "csv"); !strings.Contains(out, "1244") {
		t.Errorf("Spark counts %q", out)
	}
	c.straggler(t, 0, "store", "verify", "--store", far)
}

// alikeRow compares lines of CSV, floats to 1e-9 of their size.
func alikeRow(a, b string) bool {
	if a == b {
		return true
	}
	return slices.EqualFunc(strings.Split(a, ","), strings.Split(b, ","), func(a, b string) bool {
		var x, y float64
		_, e1 := fmt.Sscan(a, &x)
		_, e2 := fmt.Sscan(b, &y)
		return a == b || e1 == nil && e2 == nil && max(x-y, y-x) <= 1e-9*max(x, -x, y, -y)
	})
}
