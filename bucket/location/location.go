// Package location parses the URLs of object stores and file systems, and links none of their libraries.
package location

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// ErrURL is returned when a URL cannot be used.
var ErrURL = errors.New("wrong URL")

// Location is a parsed URL. Nothing in it is percent-decoded, because people write keys as the vendors' tools show them.
type Location struct {
	Scheme string // lower case
	Host   string // bucket, container, or server with its port
	Path   string // without slashes around it; of a file URL the directory
	Query  url.Values
}

// IsURL reports whether a text is a URL, and not a path.
func IsURL(text string) bool {
	scheme, _, ok := strings.Cut(text, "://")
	return ok && scheme != "" && strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-") == ""
}

// Parse parses a URL. Its errors are ErrURL.
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
		return l, fmt.Errorf("%w: a URL of %s holds no user, password or port%s", ErrURL, l.Scheme, l.Hints().ThenCredentials())
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

// Hints returns what to set if the server does not answer, or denies access.
func (l Location) Hints() Hints { return hints[l.Scheme] }

// Root returns the URL of the bucket to show, without parameters.
func (l Location) Root() string { return l.Scheme + "://" + l.Host }

// String returns the URL to show, without parameters.
func (l Location) String() string {
	if l.Scheme == "file" || l.Path == "" {
		return l.Root() + l.Path
	}
	return l.Root() + "/" + l.Path
}

// Identity returns a text that two locations share if and only if they are the same bucket of the same server.
func (l Location) Identity() string { return l.Root() + "?" + l.Query.Encode() }

// Hints are what users can set to mend an error.
type Hints struct{ Credentials, Address string }

// ThenCredentials returns what to do about credentials as the end of a sentence, or "" if that is unknown.
func (h Hints) ThenCredentials() string { return asEnd(h.Credentials) }

// ThenAddress returns what to do about the address as the end of a sentence, or "" if that is unknown.
func (h Hints) ThenAddress() string { return asEnd(h.Address) }

func asEnd(hint string) string {
	if hint == "" {
		return ""
	}
	return "; " + hint
}

// hints are the hints for each scheme.
var hints = map[string]Hints{
	"s3": {
		Credentials: "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or append ?anonymous=true for what is public",
		Address:     "set AWS_ENDPOINT_URL, or append ?endpoint=http://HOST:PORT, for a server that is not Amazon's, and AWS_REGION for the region",
	},
	"gs": {
		Credentials: "set GOOGLE_APPLICATION_CREDENTIALS, or log in with gcloud auth application-default login, or append ?anonymous=true for what is public",
		Address:     "check the network and HTTPS_PROXY; STORAGE_EMULATOR_HOST names a server of the XML API that is not Google's",
	},
	"azblob": {
		Credentials: "set AZURE_STORAGE_ACCOUNT and AZURE_STORAGE_KEY, or AZURE_STORAGE_SAS_TOKEN, or log in with az login",
		Address:     "set AZURE_STORAGE_ACCOUNT, and AZURE_STORAGE_DOMAIN for a server that is not Azure's",
	},
}
