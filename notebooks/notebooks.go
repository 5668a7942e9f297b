// Package notebooks has executed notebooks over a store's Parquet files, and the one that a user starts with.
//
//  1. The .ipynb files are the notebooks, with their output on logs of the repository.
//  2. run.py executes them against a store and compares, or saves.
//  3. notebooks.go adapts the first of them to a user's own store.
//
// Start with 1-morning.ipynb.
package notebooks

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

//go:embed 0-start.ipynb
var start []byte

// Starter returns a notebook, not executed, that opens the store in a folder, or at a URL.
func Starter(store string) ([]byte, error) {
	var nb map[string]any
	if err := json.Unmarshal(start, &nb); err != nil {
		return nil, fmt.Errorf("the built-in notebook: %w", err)
	}
	path, err := json.Marshal(store) // a JSON string is a valid Python string
	if err != nil {
		return nil, err
	}
	cells, _ := nb["cells"].([]any)
	for _, c := range cells {
		cell, _ := c.(map[string]any)
		if cell["cell_type"] != "code" {
			continue
		}
		cell["outputs"], cell["execution_count"] = []any{}, nil
		switch source := cell["source"].(type) {
		case string:
			cell["source"] = named(source, string(path))
		case []any:
			for i := range source {
				if line, ok := source[i].(string); ok {
					source[i] = named(line, string(path))
				}
			}
		}
	}
	return json.MarshalIndent(nb, "", " ")
}

// opening is the code with which the notebook opens a store.
const opening = `open_store(os.environ.get("STRAGGLER_STORE", "store"))`

// copying opens a store that Python cannot reach: straggler has the rules for credentials and the local copies.
const copying = `def copy_store(url):
    """The tables of a store in a bucket as DuckDB views, over files that straggler writes into a temporary folder."""
    import subprocess, tempfile
    names = subprocess.run(["straggler", "sql", "--store", url, "SHOW TABLES", "--as", "csv"], check=True, capture_output=True, text=True).stdout.split()[1:]
    folder, db = pathlib.Path(tempfile.mkdtemp()), duckdb.connect()
    db.execute("SET TimeZone = 'UTC'")
    subprocess.run(["straggler", "export", "--store", url, "-o", str(folder), *names], check=True)
    for p in sorted(folder.glob("*.parquet")):
        db.execute(f"CREATE VIEW {p.stem} AS SELECT * FROM read_parquet('{p}')")
    return db

db = copy_store(`

func named(source, path string) string {
	if strings.Contains(path, "://") {
		return strings.Replace(source, "db = "+opening, copying+path+")", 1)
	}
	return strings.Replace(source, opening, "open_store("+path+")", 1)
}
