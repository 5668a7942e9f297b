package duckdb

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"straggler/engine"
	"straggler/engine/enginetest"
	"straggler/schema"
)

// TestValuesOfEveryType asks DuckDB for values of all its types, and for the text that each should have.
func TestValuesOfEveryType(t *testing.T) {
	eng := testEngine(t, enginetest.Store(t), engine.Options{})
	for _, expr := range []string{
		// lists, structs and maps, with contents that need quotes
		"[1, NULL, 3]", "[]", "[[1], [], NULL]", "['a', 'b c', 'it''s', '', NULL, 'a,b', '[x]', 'x=y', 'a:b', 'NULL', '\"', 'a\\b', '{', ' a']",
		"[1.5, 2.25]", "[1.5::DOUBLE, 1e300::DOUBLE, 'nan'::DOUBLE, 'inf'::DOUBLE, 0::DOUBLE, -0.1::DOUBLE, 1e15::DOUBLE, 1e16::DOUBLE, 1e-5::DOUBLE, 123456789::DOUBLE]",
		"[0.1::FLOAT, 1e10::FLOAT, 16777216::FLOAT]", "[true, false]", "[DATE '2020-02-29', DATE '1969-12-31', DATE '0001-01-01']",
		"[TIMESTAMP '2020-02-29 12:34:56.789', TIMESTAMP '1960-01-01 00:00:00']", "[TIMESTAMPTZ '2020-02-29 12:34:56.789+00']",
		"[1::TINYINT, 2::TINYINT]", "[1::UTINYINT]", "[1::USMALLINT]", "[1::UINTEGER]", "[18446744073709551615::UBIGINT]", "[170141183460469231731687303715884105727::HUGEINT]",
		"{'a': 1, 'b c': 'x', 'd': NULL, 'e': [1, 2], 'f': {'g': 'it''s'}}", "MAP {'a': 1, 'b c': 2}", "MAP {1: 'x', 2: NULL}", "MAP {}",
		"[1, 2, 3]::INTEGER[3]", "union_value(n := 3)", "[union_value(s := 'a b')]",
		// scalars without a portable type
		"DATE '2020-02-29'", "DATE '-0044-03-15'", "TIME '12:34:56'", "TIME '12:34:56.5'", "INTERVAL '1' YEAR", "INTERVAL '14 months 3 days 04:05:06.789'", "INTERVAL '-5 minutes'",
		"INTERVAL '0 days'", "INTERVAL '-1 day'", "INTERVAL '-14 months'", "INTERVAL '200 hours'", "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::UUID", "'\\x00\\x41\\xFFz'::BLOB", "'x\"y''z'::BLOB",
		"'b'::ENUM ('a', 'b')", "'10101'::BIT", "123456789012345678901234567890::BIGNUM", "(-5)::BIGNUM", "0::BIGNUM", "[(-300)::BIGNUM]",
		"TIMETZ '12:34:56+02'", "TIME '00:00:00'", "'[1, {\"a\": null}]'::JSON", "['{}'::JSON]", "NULL",
	} {
		rows, err := eng.Query(t.Context(), "SELECT "+expr+" AS v, CAST("+expr+" AS VARCHAR) AS w")
		if err != nil {
			t.Errorf("%s: %v", expr, err)
			continue
		}
		if !rows.Next() {
			t.Errorf("%s: no row, %v", expr, rows.Err())
			continue
		}
		if got, want := rows.Value(0), rows.Value(1); got != want && fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s comes as %v and is to be %v (%s)", expr, got, want, rows.Columns()[0].Native)
		}
		rows.Close()
	}
}

func TestPortableTypes(t *testing.T) {
	eng := testEngine(t, enginetest.Store(t), engine.Options{})
	day := schema.Time(1582934400) * 1e6 // 2020-02-29T00:00:00Z
	for _, c := range []struct {
		expr string
		want any
	}{
		{"true", true}, {"1::TINYINT", int32(1)}, {"-1::SMALLINT", int32(-1)}, {"1::UTINYINT", int32(1)}, {"65535::USMALLINT", int32(65535)}, {"1", int32(1)},
		{"4294967295::UINTEGER", int64(4294967295)}, {"9223372036854775807", int64(math.MaxInt64)}, {"9223372036854775807::UBIGINT", int64(math.MaxInt64)},
		{"sum(x) FROM (VALUES (1), (2)) v(x)", int64(3)}, {"-170141183460469231731687303715884105728::HUGEINT // 170141183460469231731687303715884105728::HUGEINT", nil},
		{"(-9223372036854775808)::HUGEINT", int64(math.MinInt64)}, {"1.5::FLOAT", 1.5}, {"1.5", 1.5}, {"-0.001::DECIMAL(38, 3)", -0.001},
		{"99999999999999999999.5::DECIMAL(30, 1)", 99999999999999999999.5}, {"0.1::DECIMAL(4, 2)", 0.1}, {"12345.678::DECIMAL(9, 3)", 12345.678}, {"12345678901234.5678::DECIMAL(18, 4)", 12345678901234.5678},
		{"'x'", "x"}, {"''", ""}, {"'twelve bytes'", "twelve bytes"}, {"'thirteen byte'", "thirteen byte"}, {"NULL::BIGINT", nil}, {"NULL", nil},
		{"TIMESTAMP '2020-02-29'", day}, {"TIMESTAMPTZ '2020-02-29 02:00:00+02'", day}, {"TIMESTAMP_S '2020-02-29'", day}, {"TIMESTAMP_MS '2020-02-29'", day},
		{"TIMESTAMP_NS '2020-02-29 00:00:00.000001999'", day + 1}, {"TIMESTAMP_NS '1969-12-31 23:59:59.999999999'", schema.Time(-1)},
		{"TIMESTAMP '0001-01-01'", schema.Time(-62135596800) * 1e6}, {"CAST(TIMESTAMPTZ '2020-02-29 00:00:00+00' AS VARCHAR)", "2020-02-29 00:00:00+00"},
	} {
		rows, err := eng.Query(t.Context(), "SELECT "+c.expr)
		if err != nil {
			if c.want != nil {
				t.Errorf("%s: %v", c.expr, err)
			}
			continue
		}
		if !rows.Next() {
			t.Errorf("%s: no row, %v", c.expr, rows.Err())
		} else if got := rows.Value(0); got != c.want {
			t.Errorf("%s comes as %T %v and is to be %T %v", c.expr, got, got, c.want, c.want)
		}
		rows.Close()
	}
	for _, expr := range []string{"9223372036854775808::UBIGINT", "9223372036854775808::HUGEINT", "(-9223372036854775809)::HUGEINT", "340282366920938463463374607431768211455::UHUGEINT"} {
		if _, err := enginetest.Count(t.Context(), eng, "SELECT "+expr+" AS big"); err == nil ||
			!strings.Contains(err.Error(), "column big") || !strings.Contains(err.Error(), "cast") {
			t.Errorf("%s, which is no BIGINT, gives %v", expr, err)
		}
	}
}

// TestManyRowsOfManyTypes crosses the boundaries of DuckDB's chunks, with NULLs among the rows.
func TestManyRowsOfManyTypes(t *testing.T) {
	eng := testEngine(t, enginetest.Store(t), engine.Options{})
	type row struct {
		I schema.Null[int64]       `col:"i"`
		H schema.Null[int64]       `col:"h"`
		D schema.Null[float64]     `col:"d"`
		S schema.Null[string]      `col:"s"`
		L schema.Null[string]      `col:"l"`
		B schema.Null[bool]        `col:"b"`
		T schema.Null[schema.Time] `col:"t"`
		N int64                    `col:"n"`
	}
	const n = 10000
	var at int64
	for r, err := range engine.Read[row](t.Context(), eng, fmt.Sprintf(`SELECT x AS n,
		CASE WHEN x %% 3 <> 0 THEN x END AS i, CASE WHEN x %% 5 <> 0 THEN x::HUGEINT END AS h, CASE WHEN x %% 7 <> 0 THEN x / 4.0 END AS d,
		CASE WHEN x %% 2 <> 0 THEN 'string number ' || (x // 10) END AS s, CASE WHEN x %% 11 <> 0 THEN [x] END AS l,
		CASE WHEN x %% 13 <> 0 THEN x %% 2 = 0 END AS b, CASE WHEN x %% 17 <> 0 THEN make_timestamp(x) END AS t FROM range(%d) r(x)`, n)) {
		if err != nil {
			t.Fatal(err)
		}
		want := row{N: at}
		if at%3 != 0 {
			want.I = schema.Some(at)
		}
		if at%5 != 0 {
			want.H = schema.Some(at)
		}
		if at%7 != 0 {
			want.D = schema.Some(float64(at) / 4)
		}
		if at%2 != 0 {
			want.S = schema.Some(fmt.Sprint("string number ", at/10))
		}
		if at%11 != 0 {
			want.L = schema.Some(fmt.Sprintf("[%d]", at))
		}
		if at%13 != 0 {
			want.B = schema.Some(at%2 == 0)
		}
		if at%17 != 0 {
			want.T = schema.Some(schema.Time(at))
		}
		if *r != want {
			t.Fatalf("row %d is\n%+v and not\n%+v", at, *r, want)
		}
		at++
	}
	if at != n {
		t.Errorf("%d rows", at)
	}
}
