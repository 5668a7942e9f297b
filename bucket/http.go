package bucket

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// This file has what the S3 protocol and Blob Storage share: final responses, pages of a listing, parts of objects.

// call is a request before it is signed.
type call struct {
	method, key string // without a key it is about the bucket
	query       url.Values
	header      map[string]string
	body        []byte
}

// passing are the status codes after which a retry may succeed.
var passing = map[int]bool{http.StatusRequestTimeout: true, http.StatusTooManyRequests: true, http.StatusInternalServerError: true,
	http.StatusBadGateway: true, http.StatusServiceUnavailable: true, http.StatusGatewayTimeout: true}

// refusal is an error response of a server.
type refusal interface {
	error
	answered() int // status of HTTP
}

// final reports whether a retry would fail with the same error.
func final(err error) bool {
	var reply refusal
	var refused *oauth2.RetrieveError
	return errors.As(err, &reply) && !passing[reply.answered()] || errors.As(err, &refused) || errors.Is(err, errNoCredential)
}

// maxPage bounds the bytes of a page. 1 000 objects with names of 1 024 characters and all their properties take less.
const maxPage = 32 << 20

// withGiven adds to a query the values that are not empty.
func withGiven(query url.Values, values map[string]string) url.Values {
	for name, value := range values {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query
}

// readPage decodes a page of a listing.
func readPage(r *http.Response, page any) error {
	defer r.Body.Close()
	if err := xml.NewDecoder(io.LimitReader(r.Body, maxPage)).Decode(page); err != nil {
		return fmt.Errorf("the listing of the bucket: %w", err)
	}
	return nil
}

// sortByKey sorts objects and directories, which servers list separately.
func sortByKey(objects []Object) {
	slices.SortFunc(objects, func(a, b Object) int { return cmp.Compare(a.Key, b.Key) })
}

// byteRange returns the Range header for n bytes from a byte on (RFC 9110 §14.2), or "" for all.
func byteRange(from, n int64) string {
	switch {
	case n >= 0:
		return fmt.Sprintf("bytes=%d-%d", from, from+n-1)
	case from > 0:
		return fmt.Sprintf("bytes=%d-", from)
	}
	return ""
}

// wholeSize returns the size of an object of which a server sends a part: the 27 of bytes 10-14/27 (RFC 9110 §14.4).
func wholeSize(length int64, contentRange string) int64 {
	if _, whole, ok := strings.Cut(contentRange, "/"); ok {
		if n, err := strconv.ParseInt(whole, 10, 64); err == nil {
			return n
		}
	}
	return length
}

// modified returns the time at which an object was written, or the zero time if it is unknown.
func modified(r *http.Response) time.Time {
	at, err := http.ParseTime(r.Header.Get("Last-Modified"))
	if err != nil {
		return time.Time{}
	}
	return at
}
