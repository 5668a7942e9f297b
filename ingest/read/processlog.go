package read

import (
	"bytes"
	"regexp"
)

// logged matches a line written by Log4j or Logback: date, time and level, with or without a thread before the level.
var logged = regexp.MustCompile(`^(?:\d{4}-\d\d-\d\d|\d\d/\d\d/\d\d)[ T]\d\d:\d\d:\d\d\S*(?: \[[^]]*\]| \S+)? *\[?(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b`)

// ProcessLog reports whether the beginning of a file is from the text log of a process, and mentions one of the words. Some of
// its first lines may have another form, such as stack traces and the heads of aggregated logs.
func ProcessLog(head []byte, words ...string) bool {
	const mostLines = 100
	lines, found := 0, false
	for line := range bytes.Lines(head) {
		if lines++; lines > mostLines || found {
			break
		}
		found = logged.Match(line)
	}
	if !found {
		return false
	}
	for _, w := range words {
		if bytes.Contains(head, []byte(w)) {
			return true
		}
	}
	return false
}
