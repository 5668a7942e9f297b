package remote

import (
	"fmt"
	"net/url"
	"strings"

	"straggler/ingest"
)

// location is a URL taken apart. Nothing in it is percent-decoded: people write keys as the vendors' tools show them.
type location struct {
	scheme string // in lower case
	host   string // bucket, container, or name node with its port
	path   string // without slashes around it
	query  url.Values
}

// schemes are those that Open takes.
var schemes = []string{"s3", "gs", "azblob", "hdfs"}

func parse(text string) (location, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	l := location{scheme: strings.ToLower(scheme)}
	if !ok || !known(l.scheme) {
		return l, fmt.Errorf("%w: there is no reader for URLs of %s; there are %s and file", ingest.ErrUse, l.scheme, strings.Join(schemes, ", "))
	}
	rest, query, _ := strings.Cut(rest, "?")
	l.host, l.path, _ = strings.Cut(rest, "/")
	l.path = strings.Trim(l.path, "/")
	if l.scheme != "hdfs" && strings.Contains(l.host, ":") || strings.Contains(l.host, "@") {
		return l, fmt.Errorf("%w: a URL of %s holds no user, password or port; %s", ingest.ErrUse, l.scheme, advice[l.scheme].credentials)
	}
	if l.host == "" && l.scheme != "hdfs" {
		return l, fmt.Errorf("%w: the URL names no bucket; write it as %s://BUCKET/PATH", ingest.ErrUse, l.scheme)
	}
	var err error
	if l.query, err = url.ParseQuery(query); err != nil {
		return l, fmt.Errorf("%w: the parameters behind the ? can not be read", ingest.ErrUse)
	}
	if e, err := url.Parse(l.query.Get("endpoint")); err != nil || e.User != nil {
		return l, fmt.Errorf("%w: the parameter endpoint is an address such as http://HOST:PORT, without user and password", ingest.ErrUse)
	}
	return l, nil
}

func known(scheme string) bool {
	for _, s := range schemes {
		if s == scheme {
			return true
		}
	}
	return false
}

// root is the URL of the place, as it is shown.
func (l location) root() string { return l.scheme + "://" + l.host }

// place tells places apart: the same bucket of another server is another place.
func (l location) place() string { return l.root() + "?" + l.query.Encode() }
