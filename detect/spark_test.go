package detect

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"straggler/schema"
	"straggler/store"
	"straggler/table"
)

// The same text on Spark SQL gives the same rows. It takes most of a minute, so it runs where it is asked for.
func TestSparkAgrees(t *testing.T) {
	if !strings.Contains(os.Getenv("STRAGGLER_REQUIRE"), "spark") {
		t.Skip("runs with STRAGGLER_REQUIRE=spark, python3 and pyspark")
	}
	ctx := context.Background()
	st, err := store.Temp(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	write(t, st, random(rand.New(rand.NewPCG(21, 5)), 400))
	want := runStore(t, st, 2, Options{})
	eng, err := st.Engine(ctx, store.EngineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	dir := t.TempDir()
	parquet, _ := table.Named("parquet")
	for _, name := range []string{"applications", "phases", "attempts"} {
		rows, err := eng.Query(ctx, "SELECT * FROM "+name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(filepath.Join(dir, name+".parquet"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parquet.Write(f, rows, table.Options{}); err != nil {
			t.Fatal(err)
		}
		rows.Close()
		f.Close()
	}
	if out, err := exec.Command("python3", filepath.Join("testdata", "spark.py"), dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := &detected{
		phases:   collect[schema.PhaseStats](t, eng, "SELECT * FROM read_parquet('"+dir+"/spark_phase_stats/*.parquet')"),
		outliers: collect[schema.Outlier](t, eng, "SELECT * FROM read_parquet('"+dir+"/spark_outliers/*.parquet')"),
	}
	differ(t, "on Spark", want, got, closely)
}
