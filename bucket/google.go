package bucket

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"straggler/bucket/location"
)

// Cloud Storage's XML API is the S3 protocol with other headers (cloud.google.com/storage/docs/interoperability): the S3
// client's requests are sent with Google's.
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

// openGoogleAt takes Application Default Credentials (cloud.google.com/docs/authentication/application-default-credentials)
// to a server; an emulator gets none.
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
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	var send http.RoundTripper = transport
	if !anonymous {
		found, err := google.FindDefaultCredentials(ctx, googleScope)
		if err != nil {
			return nil, err
		}
		send = &oauth2.Transport{Base: transport, Source: found.TokenSource}
	}
	o := s3.Options{
		Region: "auto", BaseEndpoint: &server, UsePathStyle: true, Credentials: aws.AnonymousCredentials{}, Logger: logging.Nop{},
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired, ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
		HTTPClient: &http.Client{Transport: googleHeaders{send}},
	}
	if !retries {
		o.Retryer = aws.NopRetryer{}
	}
	return &s3Bucket{client: s3.New(o), name: l.Host}, nil
}

// googleHeaders sends requests of the S3 protocol with Google's headers.
type googleHeaders struct{ send http.RoundTripper }

func (g googleHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Amz-") || strings.HasPrefix(name, "Amz-") {
			r.Header.Del(name)
		}
	}
	if r.Header.Get("If-None-Match") == "*" && r.Method != http.MethodGet && r.Method != http.MethodHead {
		r.Header.Del("If-None-Match")
		r.Header.Set("X-Goog-If-Generation-Match", "0") // no generation: there is no such object
	}
	q := r.URL.Query()
	if r.Method == http.MethodGet && !q.Has("list-type") {
		r.Header.Set("Accept-Encoding", "gzip") // or objects that are stored as gzip are sent without it, and in other lengths
	}
	q.Del("x-id") // the S3 client's name of the operation
	r.URL.RawQuery = q.Encode()
	return g.send.RoundTrip(r)
}
