package formats

import (
	"testing"

	"straggler/ingest/ingesttest"
)

// An empty file gives no rows whatever format --from names; the run then refuses it.
func TestBlank(t *testing.T) {
	for _, f := range All() {
		for _, blank := range []string{"", "\n", " \n\t\r\n\n", "[]", "{}"} {
			r := ingesttest.Bytes(t, f, "log", []byte(blank))
			for table, n := range r.Counts.Rows {
				if table != "rejects" && r.Err == nil {
					t.Errorf("%s of %q: %d rows of %s", f.Name, blank, n, table)
				}
			}
		}
	}
}
