package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/rogpeppe/go-internal/testscript"
)

// The scripts of testdata/remote find the labelled log mixed in the bucket logs of an S3 server on loopback, and an empty
// bucket lakes.
func TestRemoteScripts(t *testing.T) {
	data, err := os.ReadFile("../../testdata/labelled/mixed/app-20261121033031-0011.zstd")
	if err != nil {
		t.Fatal(err)
	}
	backend := s3mem.New()
	for _, name := range []string{"logs", "lakes"} {
		if err := backend.CreateBucket(name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := backend.PutObject("logs", "spark/app-20261121033031-0011.zstd", nil, bytes.NewReader(data), int64(len(data)), nil); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server())
	t.Cleanup(server.Close) // after the scripts, which run in parallel
	testscript.Run(t, testscript.Params{Dir: filepath.Join("testdata", "remote"), RequireExplicitExec: true, RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Setup: func(e *testscript.Env) error {
			for name, value := range map[string]string{"AWS_ENDPOINT_URL": server.URL, "AWS_ACCESS_KEY_ID": "AKIASECRETSECRET0001",
				"AWS_SECRET_ACCESS_KEY": "topsecrettopsecret", "AWS_EC2_METADATA_DISABLED": "true", "AWS_MAX_ATTEMPTS": "1"} {
				e.Setenv(name, value)
			}
			return furnish(e)
		}})
}
