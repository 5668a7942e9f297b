package bucket

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"straggler/bucket/location"
)

// Cloud Storage's XML API is the S3 protocol with other headers (cloud.google.com/storage/docs/interoperability), and tokens
// instead of signatures.
const (
	googleServer = "https://storage.googleapis.com"
	googleScope  = "https://www.googleapis.com/auth/cloud-platform"
)

func openGoogle(ctx context.Context, l location.Location, retries bool) (Bucket, error) {
	server := os.Getenv("STORAGE_EMULATOR_HOST")
	switch {
	case server == "":
		server = googleServer
	case !strings.Contains(server, "://"):
		server = "http://" + server
	}
	return openGoogleAt(ctx, server, l, retries)
}

// openGoogleAt opens a bucket of a server with Application Default Credentials
// (cloud.google.com/docs/authentication/application-default-credentials), or of an emulator without credentials.
func openGoogleAt(ctx context.Context, server string, l location.Location, retries bool) (Bucket, error) {
	anonymous := os.Getenv("STORAGE_EMULATOR_HOST") != ""
	for name := range l.Query {
		switch value := l.Query.Get(name); name {
		case "anonymous":
			anonymous = anonymous || value == "true"
		case "access_id":
			anonymous = anonymous || value == "-"
		case "private_key_path": // signs URLs, which nothing here does
		default:
			return nil, fmt.Errorf("there is no parameter %s for gs; there is anonymous", name)
		}
	}
	transport, err := s3Transport()
	if err != nil {
		return nil, err
	}
	var send http.RoundTripper = transport
	if !anonymous {
		found, err := google.FindDefaultCredentials(ctx, googleScope)
		if err != nil {
			return nil, err
		}
		send = &oauth2.Transport{Base: transport, Source: found.TokenSource}
	}
	b := &s3Bucket{
		at: strings.TrimSuffix(server, "/") + "/" + l.Host, client: s3Client(send), tries: 1,
		fresh: header{"X-Goog-If-Generation-Match", "0"}, // no generation: there is no such object
		// else objects that are stored as gzip would be decompressed by the server, and have other lengths
		reads: map[string]string{"Accept-Encoding": "gzip"},
	}
	if retries {
		b.tries = s3Tries
	}
	return b, nil
}
