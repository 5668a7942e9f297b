package spark

import (
	"errors"
	"testing"

	"straggler/bucket/s3test"
	"straggler/store"
)

// Programs on other machines find the store where the address says, or by its own URL with all of its parameters.
func TestStoreAddress(t *testing.T) {
	s3test.Serve(t)
	dir := t.TempDir()
	for _, c := range []struct {
		store, options, want string
	}{
		{dir, "", dir},
		{dir, "?store=/mnt/lake", "/mnt/lake"},
		{dir, "?store=file:///mnt/lake", "/mnt/lake"},
		{dir, "?store=hdfs://namenode/lake", ""},
		{dir, "?results=server", ""},
		{"s3://lakes/x?region=eu-south-2", "?store=s3a://lakes/x", "s3://lakes/x?region=eu-south-2"},
		{"file://" + dir, "", "file://" + dir},
		{"file://" + dir, "?store=/mnt/lake", "file:///mnt/lake"},
		{"file://" + dir, "?results=executors", "file://" + dir},
	} {
		st, err := store.Open(t.Context(), c.store, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		server, err := parseAddress("spark://me@127.0.0.1" + c.options)
		if err != nil {
			t.Fatal(err)
		}
		got, err := (&Engine{st: st, server: server}).StoreAddress()
		if got != c.want || (c.want == "") != errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s%s: %q, %v; want %q", c.store, c.options, got, err, c.want)
		}
	}
	if _, err := parseAddress("spark://me@127.0.0.1?results=here"); err == nil {
		t.Error("results by somebody unknown")
	}
}
