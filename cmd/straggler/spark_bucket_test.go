package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"straggler/engine/spark/sparktest"
)

// s3aJars names Hadoop's connector for S3 and what of Amazon's SDK it needs, listed as in a class path; .ci/run says which.
const s3aJars = "STRAGGLER_S3A_JARS"

// sparkBuckets has a Spark that is to be started read the buckets of an S3 server, and gives the environment in which this program
// does; nothing where there are no jars, or Spark runs already.
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
		"spark.hadoop.fs.s3a.endpoint": settings["AWS_ENDPOINT_URL"], "spark.hadoop.fs.s3a.path.style.access": "true", "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
		"spark.hadoop.fs.s3a.access.key": settings["AWS_ACCESS_KEY_ID"], "spark.hadoop.fs.s3a.secret.key": settings["AWS_SECRET_ACCESS_KEY"]}
	for name, value := range settings {
		env = append(env, name+"="+value)
	}
	return append(env, "STRAGGLER_CACHE="+t.TempDir())
}

// sparkOnBucket: a store in a bucket is the same to Spark as one in a directory to this process: it reads it by s3a from an S3 server, and
// the results, which are written from here, are the same rows.
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
