package report

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestFigures(t *testing.T) {
	s := func(x string) string { return strings.ReplaceAll(x, " ", nbsp) }
	for _, tc := range []struct{ got, want string }{
		{seconds(0), s("0 s")}, {seconds(0.0001), s("< 1 ms")[0:1] + s("< 1 ms")[1:]}, {seconds(0.41), s("410 ms")}, {seconds(0.9996), s("1.00 s")},
		{seconds(1), s("1.00 s")}, {seconds(9.999), s("10.0 s")}, {seconds(41.23), s("41.2 s")}, {seconds(99.96), s("100 s")}, {seconds(599), s("599 s")},
		{seconds(600), s("10.0 min")}, {seconds(7200), s("2.00 h")}, {seconds(86400 * 3), s("3.00 d")}, {seconds(-2.5), s("−2.50 s")},
		{seconds(math.NaN()), dash}, {seconds(math.Inf(1)), dash},
		{byteSize(0), s("0 B")}, {byteSize(1023), s("1023 B")}, {byteSize(1 << 20), s("1.00 MiB")}, {byteSize(583 << 20), s("583 MiB")}, {byteSize(1 << 62), s("4.00 EiB")},
		{times(9.1), "9.10×"}, {times(1), "1.00×"}, {times(12345678), "> 9999×"}, {times(math.NaN()), dash},
		{percent(0.43), s("43 %")}, {percent(0.0312), s("3.1 %")}, {percent(0), s("0 %")}, {percent(0.0001), s("< 0.1 %")}, {percent(-0.5), s("−50 %")}, {percent(-0.0001), s("≈ 0 %")}, {seconds(-0.0001), s("≈ 0 s")},
		{count(1234), "1234"}, {count(1234567), "1\u202f234\u202f567"}, {count(-20000), "−20\u202f000"},
		{tick(10), s("10 s")}, {tick(2.5), s("2.5 s")}, {tick(0.5), s("500 ms")},
		{instant(0, "epoch"), "1970-01-01 00:00:00" + nbsp + "UTC"}, {instant(5e6, "trace"), "start + " + s("5.00 s")}, {instant(math.MaxInt64, "epoch"), dash},
	} {
		if tc.got != tc.want {
			t.Errorf("%q, want %q", tc.got, tc.want)
		}
	}
}

// Rounding never moves a figure by more than half of its third digit, and larger values never read as smaller ones.
func TestRound3(t *testing.T) {
	for v := 1e-3; v < 1e6; v *= 1.0137 {
		s := round3(v)
		var back float64
		for _, r := range strings.ReplaceAll(s, ".", "") {
			back = back*10 + float64(r-'0')
		}
		if i := strings.IndexByte(s, '.'); i >= 0 {
			back /= math.Pow(10, float64(len(s)-i-1))
		}
		if math.Abs(back-v) > 0.00501*v {
			t.Errorf("%v is written %s", v, s)
		}
	}
}

// Every figure in every table says its unit, unless its column counts things.
func TestUnits(t *testing.T) {
	counts := []string{"#", "Applications", "Count", "Line", "Byte", "Jobs", "Attempts", "Tasks", "Phases", "Outliers", "Copies", "Files", "Records", "Rejects", "Outputs lost"}
	one := `[−<>\x{00a0}]*[0-9][0-9.\x{202f}]*(\x{00a0}(s|ms|min|h|d|%|B|[KMGTPE]iB)|×)`
	unit := regexp.MustCompile(`^(` + one + `( to ` + one + `)?|–)$`)
	d := built(t, labelled(t, "mixed", "recompute"))
	d.Whatif = madeWhatif()
	figures := 0
	for _, tb := range []table{applicationsTable(d), caveatsTable(d), rejectsTable(d), ingestsTable(d), causesTable(d), jobsTable(d), phasesTable(d), outliersTable(d), machinesTable(d), savingsTable(d)} {
		for _, r := range tb.Rows {
			if len(r.Cells) != len(tb.Columns) {
				t.Fatalf("%s: %d cells under %d columns", tb.ID, len(r.Cells), len(tb.Columns))
			}
			for i, c := range r.Cells {
				col := tb.Columns[i]
				counted := slices.Contains(counts, col.Title) && !strings.HasSuffix(c.Text, "%")
				if !col.Number || counted {
					continue
				}
				figures++
				if !unit.MatchString(c.Text) {
					t.Errorf("%s, %s: %q has no unit", tb.ID, col.Title, c.Text)
				}
				if c.Text == dash && c.Note == "" {
					t.Errorf("%s, %s: unknown, and nothing says why", tb.ID, col.Title)
				}
			}
		}
	}
	if figures < 100 {
		t.Errorf("only %d figures were looked at", figures)
	}
}

func TestNiceScale(t *testing.T) {
	for v := 1e-3; v < 1e8; v *= 1.37 {
		top, step := niceScale(v)
		if top < v*(1-1e-9) || top > 2*v || top/step > 6.0001 || top/step < 1 {
			t.Errorf("an axis to %v for %v in steps of %v", top, v, step)
		}
	}
}
