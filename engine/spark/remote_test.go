package spark

import (
	"errors"
	"slices"
	"testing"

	"straggler/bucket/s3test"
	"straggler/engine"
	"straggler/store"
)

// Copies get the values of a query as lines of text, which the program here prints.
func sparkGivesRows(t *testing.T, c *sparkCase) {
	eng := c.engine(t, "&binary=/bin/sed", engine.Options{})
	rows, err := eng.(engine.RemoteRunner).RunRemote(t.Context(), engine.RemoteJob{
		SQL: "SELECT k, n, x, b, " + engine.RemoteText("s") + ` AS s FROM (VALUES
			(CAST(2 AS BIGINT), CAST(2 AS BIGINT), CAST('NaN' AS DOUBLE), false, 'a\tb\\'),
			(2, 1, 1e0 / 3e0, true, ''),
			(1, -9223372036854775808, -1.5e300, NULL, NULL),
			(2, NULL, NULL, NULL, '√2')) AS v(k, n, x, b, s)`,
		Columns: []string{"k", "n", "x", "b", "s"}, Order: "k, n NULLS LAST", Partitions: 3, Verb: []string{`s/\t/|/g; s/^\(.\)/\1\t\1/`},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var got []string
	for rows.Next() {
		got = append(got, rows.Value(1).(string))
	}
	slices.Sort(got)
	want := []string{`1|-9223372036854775808|-1.5E300|\N|\N`, `2|1|0.3333333333333333|true|`, `2|2|NaN|false|a\tb\s`, `2|\N|\N|\N|√2`}
	if err := rows.Err(); err != nil || !slices.Equal(got, want) {
		t.Errorf("the copies were given %q, not %q: %v", got, want, err)
	}
}

// Programs on other machines find the store at the address's store option, or at its own URL with all parameters.
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
