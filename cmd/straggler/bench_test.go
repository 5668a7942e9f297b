package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/generate"
	"straggler/ingest/formats"
	"straggler/ingest/run"
	"straggler/store"
)

// bigLog returns a labelled log repeated to STRAGGLER_MEGABYTES (256).
func bigLog(b *testing.B) (path string, size int64) {
	b.Helper()
	megabytes := int64(256)
	if n, err := strconv.ParseInt(os.Getenv("STRAGGLER_MEGABYTES"), 10, 32); err == nil {
		megabytes = n
	}
	in, err := os.Open("../../testdata/labelled/plain/app-20261121035239-0000")
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	path = filepath.Join(b.TempDir(), "app-1")
	out, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	if size, err = generate.Like(b.Context(), out, in, megabytes<<20); err != nil {
		b.Fatal(err)
	}
	if err := out.Close(); err != nil {
		b.Fatal(err)
	}
	return path, size
}

// BenchmarkLogToStore reads a plain Spark log into a committed store.
func BenchmarkLogToStore(b *testing.B) {
	path, size := bigLog(b)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		st, err := store.Temp(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := run.Run(b.Context(), st, formats.All(), []string{path}, run.Options{}); err != nil {
			b.Fatal(err)
		}
		st.Close()
	}
}

// BenchmarkDuckDBJSON is the peer: DuckDB's own reader over the same log, with the types of six fields given, and
// without types. It answers which tasks took longest, as the next benchmark does.
func BenchmarkDuckDBJSON(b *testing.B) {
	path, size := bigLog(b)
	typed := fmt.Sprintf(`SELECT "Stage ID", "Task Info"."Task ID" AS task, "Task Info"."Finish Time" - "Task Info"."Launch Time" AS ms
		FROM read_json('%s', format = 'newline_delimited', maximum_object_size = 67108864, columns = {Event: 'VARCHAR', "Stage ID": 'BIGINT',
		"Task Info": 'STRUCT("Task ID" BIGINT, "Launch Time" BIGINT, "Finish Time" BIGINT, Host VARCHAR)'})
		WHERE Event = 'SparkListenerTaskEnd' ORDER BY ms DESC LIMIT 10`, path)
	untyped := fmt.Sprintf(`SELECT json->>'$."Task Info"."Task ID"' AS task, (json->>'$."Task Info"."Finish Time"')::BIGINT - (json->>'$."Task Info"."Launch Time"')::BIGINT AS ms
		FROM read_json_objects('%s', format = 'newline_delimited', maximum_object_size = 67108864)
		WHERE json->>'$.Event' = 'SparkListenerTaskEnd' ORDER BY ms DESC LIMIT 10`, path)
	for _, q := range []struct{ name, sql string }{{"typed", typed}, {"untyped", untyped}} {
		b.Run(q.name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				st, err := store.Temp(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				if n := rowCount(b, st, q.sql); n != 10 {
					b.Fatalf("%d rows", n)
				}
				st.Close()
			}
		})
	}
}

// BenchmarkFirstQuestion is the time of a user from the log to the list of the longest tasks.
func BenchmarkFirstQuestion(b *testing.B) {
	path, size := bigLog(b)
	b.SetBytes(size)
	for b.Loop() {
		st, err := store.Temp(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := run.Run(b.Context(), st, formats.All(), []string{path}, run.Options{}); err != nil {
			b.Fatal(err)
		}
		if n := rowCount(b, st, "SELECT phase_id, native_id, duration_s FROM attempts ORDER BY duration_s DESC NULLS LAST LIMIT 10"); n != 10 {
			b.Fatalf("%d rows", n)
		}
		st.Close()
	}
}

func rowCount(b *testing.B, st *store.Store, sql string) int {
	b.Helper()
	eng, err := engines.Open(b.Context(), st, engine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer eng.Close()
	rows, err := eng.Query(b.Context(), sql)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		n++
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	return n
}
