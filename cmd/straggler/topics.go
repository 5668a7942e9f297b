package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"straggler/report/terminal"
	"straggler/schema"
	"straggler/whatif/option"
	"straggler/whatif/policy"
	"straggler/whatif/schedule"
)

// topics returns the help texts that belong to no verb: straggler help TOPIC. They are generated from the tables that the program
// itself uses.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "tables", Short: "Every table and column, with units and meanings", Long: tablesText()},
		{Use: "policies", Short: "Every policy of whatif, with its rules' source and its options", Long: policiesText()},
		{Use: "schedulers", Short: "Every scheduler of simulate and whatif, with its rules' source and its options", Long: schedulersText()},
		{Use: "engine", Short: "Where SQL runs: in this process, or on a Spark cluster", Long: engineText},
	}
}

const engineText = `SQL runs in this process, on DuckDB, unless --engine names a cluster:

  straggler detect --store /shared/lake --engine spark://me@thrift.example:10000

The server is a Spark Thrift Server or Kyuubi (HiveServer2) with Spark 3.5 or newer. The same statements run on both and
give the same rows. Below some hundred million attempts one machine is faster.

The parts written in Go run there too, as copies of this program that the cluster starts near the data: causes works on
phases, whatif on applications, and ingest on logs, in --shards. The same version of the program must be visible to all machines
of the cluster; ?binary=PATH names it. The copies of detect, causes and whatif write their results into the store; only
the names of their files come back, and one commit names them. Spark may run a copy more than once: one file of each is in
the commit, and the others are removed; in a bucket, where the cluster or this program was killed, a day later. Each shard of
ingest is one commit, and logs that are in the store already are not read again. Logs that could not be read after several
tries are named.

The store must be on a file system that every machine of the cluster sees. If its path differs there, name it:
?store=/mnt/lake or ?store=hdfs://namenode/lake. Quote the address: shells interpret ? and &. The user that Spark runs as
needs permission to write there. Tables that a verb asks several times are written there too, under staging, until they are no
longer needed; in a bucket, or with ?results=server, the executors keep them in memory.

A store in a bucket (--store s3://BUCKET/PATH) is read by Spark as s3a://BUCKET/PATH, which needs a connector: start the
server with --packages org.apache.hadoop:hadoop-aws:VERSION, with the VERSION in the name of its jars/hadoop-client-api, with
the keys and, for a server other than Amazon's, --conf spark.hadoop.fs.s3a.endpoint=URL and
spark.hadoop.fs.s3a.path.style.access=true. The copies need access of their own, which Spark's keys for s3a do not give:
preferably by a role of their machines or pods (an instance profile, a service account, a managed identity), which is found
without any setting; else by the files of the vendor's tools, such as
--conf spark.executorEnv.AWS_SHARED_CREDENTIALS_FILE=/etc/lake/credentials; or by variables such as
spark.executorEnv.AWS_ACCESS_KEY_ID, which others may see in Spark's pages. A server other than Amazon's is named in the
store's URL, whose parameters the copies get, or by spark.executorEnv.AWS_ENDPOINT_URL. whatif and ingest cache files in
STRAGGLER_CACHE, or in the user's cache directory, which needs HOME. Where executors must not have access, with
?results=server the results of detect and causes come through the server, and whatif replays here. The parts of an
upload that a killed executor did not complete cost money until a lifecycle rule of the bucket aborts incomplete uploads.

Options follow the address, as ?NAME=VALUE&NAME=VALUE:

  auth            none (also for LDAP and custom log-ins), or nosasl: hive.server2.authentication of the server. Kerberos
                  is not supported.
  password-file   read the password from this file. Without it the environment's STRAGGLER_SPARK_PASSWORD is taken; an
                  address with a password in it is refused, because every user of the machine can see it.
  tls             true: encrypt. tls-ca=FILE.pem trusts that authority, tls-name=HOST expects another name.
  store           the store's directory as the cluster sees it
  binary          this program as the cluster's machines have it, for what is not SQL
  results         who writes results into the store: executors (the default), or server: they come through it, and this
                  machine writes them
  connect         how long connecting may take (10s)
  patience        how long the server may be silent before it is checked (1m)
  reconnect       how long to wait for a server that went away (2m). Views are created again and the query is repeated,
                  unless some of its rows were returned already.
  set.NAME        a setting of the session, such as set.spark.sql.shuffle.partitions=400

The session's time zone is UTC and ANSI mode is on, whatever the server's defaults: a value that does not fit its type is
an error. Ctrl-C stops the cluster's work. straggler sql only reads: a statement that writes, runs programs, calls Java by
name or reads a file by its path is refused before it is sent. Queries can still read other tables of the cluster's
metastore, with the permissions of the user who logs in, and call functions that its administrator added. report fetches the
rows that it draws to this machine, and whatif replays here with --optimize, and for a selection of applications.`

func tablesText() string {
	var b strings.Builder
	b.WriteString(`Times are instants in UTC; columns that end in _s are seconds, in _bytes bytes. NULL means that the log does not say.
Ingest fills the log tables. Causes and whatif replace the rows of earlier runs; detect adds what is new.

`)
	schema.WriteText(&b, schema.Tables()) // a strings.Builder takes everything
	return strings.TrimRight(b.String(), "\n")
}

func policiesText() string {
	var b strings.Builder
	b.WriteString("Choose with whatif --policy NAME,…, change options with --set NAME.OPTION=VALUE.\n")
	for _, s := range policy.Specs() {
		fmt.Fprintf(&b, "\n%s: %s (%s)\n", s.Name, s.Doc, s.Source)
		optionLines(&b, s.Options())
	}
	return strings.TrimRight(b.String(), "\n")
}

func schedulersText() string {
	var b strings.Builder
	b.WriteString(`In a workload, write options after the name: delay t1=5 t2=5. A store of several applications is replayed under a scheduler
with whatif --scheduler.
`)
	for _, s := range schedule.Specs() {
		fmt.Fprintf(&b, "\n%s: %s (%s)\n", s.Name, s.Doc, s.Source)
		optionLines(&b, s.Options())
	}
	return strings.TrimRight(b.String(), "\n")
}

// optionLines writes a line for each option.
func optionLines(b *strings.Builder, options []option.Option) {
	for _, o := range options {
		unit := ""
		if o.Unit != "" {
			unit = " " + o.Unit
		}
		fmt.Fprintf(b, "  %s=%s%s  %s\n", o.Name, o.Default, unit, o.Doc)
	}
}

// helpWidth is how many columns help texts take.
const helpWidth = 125

// glossary appends words and their meanings to a help text.
func glossary(text string, entries []schema.Entry) string {
	var b strings.Builder
	b.WriteString(text + "\n")
	width := 13
	for _, e := range entries {
		width = max(width, len(e.Word))
	}
	for _, e := range entries {
		word := e.Word
		for _, line := range terminal.Wrap(e.Meaning, helpWidth-width-3) {
			fmt.Fprintf(&b, "\n  %-*s %s", width, word, line)
			word = ""
		}
	}
	return b.String()
}
