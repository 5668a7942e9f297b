package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/colinmarc/hdfs/v2/hadoopconf"

	"straggler/ingest"
	"straggler/ingest/discover"
	"straggler/ingest/run"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]location{
		"s3://b":                             {Scheme: "s3", Host: "b", Path: ""},
		"S3://b/":                            {Scheme: "s3", Host: "b", Path: ""},
		"s3://b/a%20b/c#d/":                  {Scheme: "s3", Host: "b", Path: "a%20b/c#d"},
		"gs://b/user@host/x":                 {Scheme: "gs", Host: "b", Path: "user@host/x"},
		"s3://b/k?region=r&use_path_style=1": {Scheme: "s3", Host: "b", Path: "k", Query: url.Values{"region": {"r"}, "use_path_style": {"1"}}},
		"azblob://c/x//y":                    {Scheme: "azblob", Host: "c", Path: "x//y"},
		"hdfs://nn:9000/logs/":               {Scheme: "hdfs", Host: "nn:9000", Path: "logs"},
		"hdfs:///logs":                       {Scheme: "hdfs", Host: "", Path: "logs"},
	} {
		got, err := parse(text)
		if err != nil || got.Scheme != want.Scheme || got.Host != want.Host || got.Path != want.Path || got.Query.Encode() != want.Query.Encode() {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"s3://b/k?region=r", "hdfs://nn:9000/x", "s3://key:secret@b/x", "gs://", "azblob://a/b?%zz", "s3://k:1/s@b?endpoint=http://u:p@h"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := parse(text)
		if err != nil {
			if !errors.Is(err, ingest.ErrUse) {
				t.Errorf("%v", err)
			}
			return
		}
		if strings.Contains(l.Host, "@") || strings.HasPrefix(l.Path, "/") || strings.HasSuffix(l.Path, "/") ||
			l.Scheme != "hdfs" && (l.Host == "" || strings.Contains(l.Host, ":")) {
			t.Errorf("%q: %+v", text, l)
		}
	})
}

// Services that cannot be reached in tests fail before any request, and say what to set.
func TestNoCredentials(t *testing.T) {
	for _, name := range []string{"AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_CONNECTION_STRING"} {
		t.Setenv(name, "")
	}
	_, _, err := New(Options{}).Open(t.Context(), "azblob://logs/a")
	if !errors.Is(err, ingest.ErrUse) && !errors.Is(err, fs.ErrPermission) {
		t.Errorf("azblob: %v", err)
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "none.json"))
	if _, _, err = New(Options{}).Open(t.Context(), "gs://logs/a"); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "anonymous=true") {
		t.Errorf("gs: %v", err)
	}
	if _, _, err = New(Options{}).Open(t.Context(), "gs://logs/a?anonymous=true"); err != nil {
		t.Errorf("gs, of what is public: %v", err)
	}
}

func TestNameNodes(t *testing.T) {
	conf := hadoopconf.HadoopConf{"fs.defaultFS": "hdfs://main", "dfs.ha.namenodes.main": "a,b",
		"dfs.namenode.rpc-address.main.a": "n1:8020", "dfs.namenode.rpc-address.main.b": "n2:8020"}
	for _, c := range []struct {
		host string
		conf hadoopconf.HadoopConf
		want []string
	}{
		{"nn:9000", nil, []string{"nn:9000"}},
		{"nn", nil, []string{"nn:8020"}},
		{"nn", conf, []string{"nn:8020"}},
		{"main", conf, []string{"n1:8020", "n2:8020"}},
		{"", conf, []string{"n1:8020", "n2:8020"}},
		{"[::1]:9000", nil, []string{"[::1]:9000"}},
		{"[::1]", nil, []string{"[::1]:8020"}},
		{"", nil, nil},
		{"a:b:c", nil, nil},
	} {
		got, err := addressesOf(c.host, c.conf)
		if !slices.Equal(got, c.want) || (err != nil) != (c.want == nil) || err != nil && !errors.Is(err, ingest.ErrUse) {
			t.Errorf("%q: %v, %v", c.host, got, err)
		}
	}
}

func TestTicketCache(t *testing.T) {
	for env, want := range map[string]string{"": fmt.Sprintf("/tmp/krb5cc_%d", os.Getuid()), "FILE:/x/y": "/x/y", "/x/y": "/x/y", "KEYRING:z": ""} {
		t.Setenv("KRB5CCNAME", env)
		if got, err := cachePath(); got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v", env, got, err)
		}
	}
}

func TestNoNameNode(t *testing.T) {
	t.Setenv("HADOOP_CONF_DIR", "")
	t.Setenv("HADOOP_HOME", "")
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	_, err = ingestAll(t, newStore(t), "hdfs://"+closed.Addr().String()+"/logs")
	if !errors.Is(err, run.ErrUnreadable) || !errors.Is(err, discover.ErrSource) || !strings.Contains(err.Error(), "HADOOP_CONF_DIR") {
		t.Errorf("nobody listens: %v", err)
	}
	if _, err := ingestAll(t, newStore(t), "hdfs://user@nn/logs"); !errors.Is(err, ingest.ErrUse) || strings.Contains(err.Error(), "user@") {
		t.Errorf("with a user: %v", err)
	}
	t.Setenv("HADOOP_CONF_DIR", t.TempDir())
	if err := os.WriteFile(filepath.Join(os.Getenv("HADOOP_CONF_DIR"), "core-site.xml"), []byte("<configuration>"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ingestAll(t, newStore(t), "hdfs:///logs"); !errors.Is(err, ingest.ErrUse) {
		t.Errorf("files that are broken: %v", err)
	}
}

// A name node that accepts the connection and then stays silent is given up; the end of the context ends the wait.
func TestSilentNameNode(t *testing.T) {
	t.Setenv("HADOOP_CONF_DIR", "")
	t.Setenv("HADOOP_HOME", "")
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	url := "hdfs://" + silent.Addr().String() + "/logs"
	ask := func(ctx context.Context, stall time.Duration) error {
		tree, p, err := New(Options{Stall: stall}).Open(ctx, url)
		if err != nil {
			return err
		}
		_, err = tree.Stat(ctx, p, false)
		return err
	}
	if err := ask(t.Context(), 50*time.Millisecond); !errors.Is(err, discover.ErrSource) {
		t.Errorf("silent: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if err := ask(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
