package bucket

import (
	"fmt"
	"net/url"
	"strings"
)

// Location is a URL taken apart. Nothing in it is percent-decoded: people write keys as the vendors' tools show them.
type Location struct {
	Scheme string // lower case
	Host   string // bucket, container, or server with its port
	Path   string // without slashes around it; of a file URL the directory
	Query  url.Values
}

// Schemes are those that Open takes.
var Schemes = []string{"s3", "gs", "azblob", "file"}

// IsURL reports whether a text is a URL, and not a path.
func IsURL(text string) bool {
	scheme, _, ok := strings.Cut(text, "://")
	return ok && scheme != "" && strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-") == ""
}

// Parse takes a URL apart. It returns ErrURL where it cannot.
func Parse(text string) (Location, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	l := Location{Scheme: strings.ToLower(scheme)}
	if !ok {
		return l, fmt.Errorf("%w: it has no ://", ErrURL)
	}
	rest, query, _ := strings.Cut(rest, "?")
	l.Host, l.Path, _ = strings.Cut(rest, "/")
	l.Path = strings.Trim(l.Path, "/")
	var err error
	if l.Query, err = url.ParseQuery(query); err != nil {
		return l, fmt.Errorf("%w: the parameters behind the ? cannot be read", ErrURL)
	}
	if l.Scheme == "file" {
		return l, l.checkFile()
	}
	_, object := hints[l.Scheme]
	if object && strings.Contains(l.Host, ":") || strings.Contains(l.Host, "@") {
		return l, fmt.Errorf("%w: a URL of %s holds no user, password or port%s", ErrURL, l.Scheme, l.Hints().then(Hints.credentials))
	}
	if object && l.Host == "" {
		return l, fmt.Errorf("%w: the URL names no bucket; write it as %s://BUCKET/PATH", ErrURL, l.Scheme)
	}
	if e, err := url.Parse(l.Query.Get("endpoint")); err != nil || e.User != nil {
		return l, fmt.Errorf("%w: the parameter endpoint is an address such as http://HOST:PORT, without user and password", ErrURL)
	}
	return l, nil
}

func (l *Location) checkFile() error {
	if l.Host != "" && l.Host != "localhost" {
		return fmt.Errorf("%w: a URL of a directory has three slashes: file:///DIR", ErrURL)
	}
	l.Host, l.Path = "", "/"+l.Path
	return nil
}

// Hints are what to set when the server does not answer, or denies access.
func (l Location) Hints() Hints { return hints[l.Scheme] }

// Root is the URL of the bucket, as it is shown; the parameters are not.
func (l Location) Root() string { return l.Scheme + "://" + l.Host }

// String is the URL as it is shown.
func (l Location) String() string {
	if l.Scheme == "file" || l.Path == "" {
		return l.Root() + l.Path
	}
	return l.Root() + "/" + l.Path
}

// Identity is equal for the same bucket of the same server, and only then.
func (l Location) Identity() string { return l.Root() + "?" + l.Query.Encode() }
