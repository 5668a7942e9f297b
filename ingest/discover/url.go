package discover

import "strings"

// showable returns a URL without the parts that must not be shown: what precedes an @, and the query.
func showable(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	rest, _, _ = strings.Cut(rest, "?")
	if strings.Contains(rest, "@") {
		return scheme + "://…"
	}
	return scheme + "://" + rest
}

// localPath returns what a file URL names on this machine.
func localPath(url string) (string, bool) {
	rest, ok := strings.CutPrefix(url, "file://")
	if !ok {
		return "", false
	}
	rest = strings.TrimPrefix(rest, "localhost")
	return rest, strings.HasPrefix(rest, "/")
}
