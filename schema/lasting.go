package schema

import "regexp"

// Lasting replaces each part of a name that differs from run to run by a star, so that job_2026-11-21 and job_2026-11-22 are
// runs of one program. These parts are dates with or without a time, numbers of six or more digits (ids or times), UUIDs,
// addresses of objects, numbers of runs (run-42, build #7), batches of a streaming query, and Spark's lists of a table's
// files. Other numbers are kept: q17 and q18 are two queries, and v2 is not v3.
func Lasting(name string) string {
	for {
		shorter := volatile.ReplaceAllString(name, "${1}${2}${3}*")
		if shorter == name {
			return name
		}
		name = shorter // it has fewer digits, but what is next to the star may still differ
	}
}

// Patterns of name parts that differ from run to run.
const (
	date = `\d{4}[-_./]\d\d[-_./]\d\d(?:[t _-]\d\d(?:[:_-]?\d\d){1,2}(?:[.,]\d+)?(?:z|[+-]\d\d:?\d\d)?)?`
	id   = `\d{6,}(?:[t_-]\d{4,})*z?`
)

var volatile = regexp.MustCompile(`(?i)(listing leaf files and directories) for \d+ paths:.*` +
	`|(\bbatch ?= ?)\d+` +
	`|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}` +
	`|` + date +
	`|(?:@|\b0x)[0-9a-f]{4,16}\b` +
	`|` + id +
	`|((?:^|[^a-z0-9])(?:run|execution|attempt|build)(?:[-_ ]?#|[-_ ])?)(?:` + date + `|` + id + `|\d+)`)
