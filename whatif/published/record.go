package published

import (
	_ "embed"
	"strings"
)

// record has the keys of the numbers that count and were met, or lay inside their band, when it was last written, except times
// of the machine; sorted, one per line.
//
//go:embed passing.tsv
var record string

// Lost returns the numbers of the papers of these rows that were met before and are no longer: rows that are not met, and keys
// of the record without a row.
func Lost(rows []Row) []string {
	papers, met := map[string]bool{}, map[string]bool{}
	for i := range rows {
		papers[rows[i].Paper] = true
		if rows[i].holds() {
			met[rows[i].Key()] = true
		}
	}
	var lost []string
	for key := range strings.Lines(record) {
		key = strings.TrimSuffix(key, "\n")
		paper, _, _ := strings.Cut(key, "\t")
		if papers[paper] && !met[key] {
			lost = append(lost, key)
		}
	}
	return lost
}

// holds reports whether the number is one that a later run must not lose.
func (r *Row) holds() bool { return r.Counts() && r.Verdict == Met || r.Verdict == Inside }
