package spark

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"straggler/ingest"
	"straggler/ingest/ingesttest"
)

func TestClaim(t *testing.T) {
	for name, c := range map[string]struct {
		path, names string
		want        []ingest.Group
	}{
		"rolling": {"logs/eventlog_v2_app-1", "appstatus_app-1 events_10_app-1.zstd events_1_app-1.zstd events_2_app-1.zstd", []ingest.Group{
			{Base: "eventlog_v2_app-1", Names: []string{"events_1_app-1.zstd", "events_2_app-1.zstd", "events_10_app-1.zstd"},
				Drop: []string{"appstatus_app-1"}}}},
		"checksums": {"eventlog_v2_a", ".appstatus_a.crc .events_1_a.crc appstatus_a events_1_a", []ingest.Group{
			{Base: "eventlog_v2_a", Names: []string{"events_1_a"}, Drop: []string{"appstatus_a", ".events_1_a.crc", ".appstatus_a.crc"}}}},
		"running": {"eventlog_v2_app-1_2", "appstatus_app-1_2.inprogress events_1_app-1_2", []ingest.Group{
			{Base: "eventlog_v2_app-1_2", Names: []string{"events_1_app-1_2"}, Drop: []string{"appstatus_app-1_2.inprogress"}}}},
		// Spark may fail to delete files that it has compacted, including an older compaction.
		"compacted": {"eventlog_v2_a", "events_1_a.lz4 events_2_a.lz4 events_2_a.lz4.compact events_3_a.lz4 events_4_a.lz4 events_4_a.lz4.compact events_5_a.lz4", []ingest.Group{
			{Base: "eventlog_v2_a", Rewritten: true, Names: []string{"events_4_a.lz4.compact", "events_5_a.lz4"},
				Drop: []string{"events_1_a.lz4", "events_2_a.lz4", "events_2_a.lz4.compact", "events_3_a.lz4", "events_4_a.lz4"}}}},
		"two in one": {"logs", "appstatus_a appstatus_b events_1_a events_1_b events_2_a", []ingest.Group{
			{Base: "eventlog_v2_a", Names: []string{"events_1_a", "events_2_a"}, Drop: []string{"appstatus_a"}},
			{Base: "eventlog_v2_b", Names: []string{"events_1_b"}, Drop: []string{"appstatus_b"}}}},
		"names alone": {"downloads", "events_1_march.csv events_2_march.csv notes.txt", nil},
		"copied elsewhere": {"downloads", "events_1_app-20261121032416-0006.zstd events_2_app-20261121032416-0006.zstd events_1_application_1707709865217_0493_1 events_1_spark-0f0e", []ingest.Group{
			{Base: "eventlog_v2_app-20261121032416-0006", Names: []string{"events_1_app-20261121032416-0006.zstd", "events_2_app-20261121032416-0006.zstd"}},
			{Base: "eventlog_v2_application_1707709865217_0493_1", Names: []string{"events_1_application_1707709865217_0493_1"}}}},
		"spark 1.0": {"logs/app-1", "APPLICATION_COMPLETE COMPRESSION_CODEC_org.apache.spark.io.LZFCompressionCodec EVENT_LOG_1 EVENT_LOG_10 EVENT_LOG_2 SPARK_VERSION_1.0.2", []ingest.Group{
			{Base: "app-1", Names: []string{"EVENT_LOG_1", "EVENT_LOG_2", "EVENT_LOG_10", "SPARK_VERSION_1.0.2"},
				Drop: []string{"APPLICATION_COMPLETE", "COMPRESSION_CODEC_org.apache.spark.io.LZFCompressionCodec"}}}},
		"databricks": {"cluster/eventlog/1_2/3", "eventlog eventlog-2024-02-01--10-00.gz eventlog-2024-01-31--22-30.gz", []ingest.Group{
			{Base: "3", Names: []string{"eventlog-2024-01-31--22-30.gz", "eventlog-2024-02-01--10-00.gz", "eventlog"}}}},
		"single files": {"logs", "app-1 app-2.zstd local-3.inprogress", nil},
	} {
		names := strings.Fields(c.names)
		slices.Sort(names)
		if diff := cmp.Diff(c.want, claim(ingest.Dir{Path: c.path, Names: names})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestSniff(t *testing.T) {
	for text, sure := range map[string]int{
		`{"Event":"SparkListenerLogStart","Spark Version":"3.5.0"}` + "\n":                   3,
		`{"Event":"DBCEventLoggingListenerMetadata","Spark Version":"x"}` + "\n":             3,
		"\n" + ` { "Spark Version" : "1.0" , "Event" : "SparkListenerBlockManagerAdded"}`:    3,
		`{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart","x":1}`: 3,
		`{"Event":"SparkListenerEnvironmentUpdate","Classpath Entries":{"a`:                  3,
		"garbage\n" + `{"Event":"SparkListenerJobEnd","Job ID":1}` + "\n":                    2,
		`{"Event":"VendorEvent"}` + "\n" + `{"Event":"SparkListenerJobEnd","Job ID":1}`:      2,
		`{"Event":"click","user":1}` + "\n" + `{"Event":"view","user":2}` + "\n":             0,
		`{"type":"AM_STARTED","event":{}}`:                                                   0,
		`[{"jobid":"application_1","status":"Pass"}]`:                                        0,
		"Event,SparkListener\n1,2\n":                                                         0,
		"":                                                                                   0,
	} {
		if got := sniff(ingest.Head{Bytes: []byte(text)}); got.Confidence != sure || (got.Why == "") != (sure == 0) {
			t.Errorf("%q: %+v, want %d", text, got, sure)
		}
	}
}

// An application of Spark 1.0 gives its version in a file name only.
func TestNumberedDirectory(t *testing.T) {
	log, _ := rule(t, "testdata/rules/spark_1_0.txtar")
	half := strings.Index(string(log), `{"Event":"SparkListenerStageCompleted"`)
	in := ingesttest.Input("app/EVENT_LOG_1", log[:half])
	in.Parts = append(in.Parts, ingesttest.Input("app/EVENT_LOG_2", log[half:]).Parts...)
	in.Parts = append(in.Parts, ingesttest.Input("app/SPARK_VERSION_1.0.2", nil).Parts...)
	r := ingesttest.Read(t, Format(), in, ingest.Limits{})
	if r.Err != nil || len(r.Attempts) != 4 || len(r.Applications) != 1 || r.Applications[0].FrameworkVersion.V != "1.0.2" || !r.Applications[0].Complete {
		t.Errorf("%v %d attempts %+v", r.Err, len(r.Attempts), r.Applications)
	}
}

// A rolling log with missing files, or a compacted one, is not the whole application.
func TestPartialRolling(t *testing.T) {
	for names, codes := range map[string][]string{
		"events_1_a events_2_a":                    nil,
		"events_2_a events_4_a":                    {"files_missing"},
		"events_3_a.compact events_4_a":            {"compacted"},
		"events_3_a.compact events_4_a events_6_a": {"compacted", "files_missing"},
	} {
		in := &ingest.Input{Name: "log", Base: "log", Key: 7}
		for i, name := range strings.Fields(names) {
			text := `{"Event":"SparkListenerUnpersistRDD","RDD ID":1}`
			if i == 0 {
				text = appStart + "\n" + appEnd
			}
			in.Parts = append(in.Parts, ingesttest.Input("dir/"+name, []byte(text+"\n")).Parts...)
		}
		r := ingesttest.Read(t, Format(), in, ingest.Limits{})
		if len(r.Applications) != 1 || r.Applications[0].Complete != (codes == nil) {
			t.Errorf("%s: %v %+v", names, r.Err, r.Applications)
		}
		for _, code := range codes {
			if caveat(&r.Trace, code) == 0 {
				t.Errorf("%s: no caveat %s: %+v", names, code, r.Caveats)
			}
		}
	}
}

// Settings explain how tasks were scheduled. No secret gets into them, whatever its name.
func TestSettings(t *testing.T) {
	secrets := []string{"spark.hadoop.fs.s3a.access.key", "spark.hadoop.fs.s3a.secret.key", "spark.ssl.keyPassword", "spark.shuffle.auth.token",
		"spark.hadoop.fs.azure.account.key.x.dfs.core.windows.net", "spark.sql.sources.password",
		"spark.kubernetes.authenticate.oauthToken", "spark.app.custom"}
	values := []string{"jdbc:postgresql://u:p@h/db", "-Dpassword=x", "fs.token=abc", strings.Repeat("x", 1000)}
	kept := map[string]string{"spark.speculation": "true", "spark.executor.memory": "4g", "spark.sql.shuffle.partitions": "200",
		"spark.master": "k8s://https://10.0.0.1:443", "spark.yarn.queue": "team-data", "spark.locality.wait": "3s"}
	var pairs []string
	for i, name := range secrets {
		pairs = append(pairs, `"`+name+`":"hunter`+string(rune('0'+i))+`"`)
	}
	for i, v := range values {
		pairs = append(pairs, `"spark.shuffle.x`+string(rune('0'+i))+`":"`+v+`"`)
	}
	for name, v := range kept {
		pairs = append(pairs, `"`+name+`":"`+v+`"`)
	}
	r := readText(t, appStart, `{"Event":"SparkListenerEnvironmentUpdate","JVM Information":{"Java Home":"/j"},"Spark Properties":{`+strings.Join(pairs, ",")+`},"System Properties":{"user.name":"u"}}`, appEnd)
	got := map[string]string{}
	for _, s := range r.Settings {
		got[s.Name] = s.Value
	}
	if diff := cmp.Diff(kept, got); diff != "" {
		t.Error(diff)
	}
	if r.Applications[0].Queue.V != "team-data" {
		t.Errorf("queue %+v", r.Applications[0].Queue)
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{"4g": 4 << 30, "512m": 512 << 20, "1024": 1 << 30, "10GB": 10 << 30, " 3 k": 3 << 10, "1t": 1 << 40, "100b": 100} {
		if got := parseSize(text); !got.OK || got.V != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
	for _, text := range []string{"", "g", "-1g", "1x", "0", "9999999999t", "1.5g"} {
		if got := parseSize(text); got.OK {
			t.Errorf("%q: %+v", text, got)
		}
	}
	for text, want := range map[string]int64{"local": 1, "local[4]": 4, "local[ 8 , 2 ]": 8, "local[*]": none, "yarn": none, "local[0]": none} {
		if got := localCores(text); got != want {
			t.Errorf("%q: %d", text, got)
		}
	}
}
