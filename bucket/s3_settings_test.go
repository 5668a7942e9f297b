package bucket

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"straggler/bucket/location"
)

func settings(t *testing.T, query string) *s3Settings {
	t.Helper()
	q, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	s, err := s3SettingsOf(q)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Locations of buckets, as given in docs.aws.amazon.com/general/latest/gr/s3.html and the guides to dual-stack, FIPS and
// acceleration. Servers other than Amazon's get what they need, and explicit settings are never changed.
func TestBucketURL(t *testing.T) {
	withoutAmazon(t, map[string]string{"AWS_REGION": "eu-west-1"})
	for query, want := range map[string]string{
		"":                                   "https://logs.s3.eu-west-1.amazonaws.com/",
		"region=us-east-1":                   "https://logs.s3.us-east-1.amazonaws.com/",
		"region=cn-north-1":                  "https://logs.s3.cn-north-1.amazonaws.com.cn/",
		"region=us-isob-east-1":              "https://logs.s3.us-isob-east-1.sc2s.sgov.gov/",
		"use_path_style=true":                "https://s3.eu-west-1.amazonaws.com/logs",
		"s3ForcePathStyle=1":                 "https://s3.eu-west-1.amazonaws.com/logs",
		"dualstack=true":                     "https://logs.s3.dualstack.eu-west-1.amazonaws.com/",
		"fips=true":                          "https://logs.s3-fips.eu-west-1.amazonaws.com/",
		"fips=true&dualstack=true":           "https://logs.s3-fips.dualstack.eu-west-1.amazonaws.com/",
		"accelerate=true":                    "https://logs.s3-accelerate.amazonaws.com/",
		"accelerate=true&dualstack=true":     "https://logs.s3-accelerate.dualstack.amazonaws.com/",
		"disable_https=true":                 "http://logs.s3.eu-west-1.amazonaws.com/",
		"endpoint=http://h:1":                "http://h:1/logs",
		"endpoint=http://h:1/gate/way/":      "http://h:1/gate/way/logs",
		"endpoint=http://h&use_path_style=0": "http://logs.h/",
	} {
		if got, err := settings(t, query).bucketURL("logs"); got != want || err != nil {
			t.Errorf("%q: %q %v, want %q", query, got, err, want)
		}
	}
	if got, err := settings(t, "").bucketURL("my.logs"); got != "https://s3.eu-west-1.amazonaws.com/my.logs" || err != nil {
		t.Errorf("a bucket name that no certificate covers: %q %v", got, err)
	}
	if _, err := settings(t, "").bucketURL("logs--use1-az4--x-s3"); err == nil {
		t.Error("a directory bucket is accepted")
	}
	if _, err := settings(t, "endpoint=h:1").bucketURL("logs"); err == nil {
		t.Error("an endpoint without a scheme is accepted")
	}
	t.Setenv("AWS_REGION", "")
	if _, err := settings(t, "").bucketURL("logs"); err == nil || !strings.Contains(err.Error(), "AWS_REGION") {
		t.Errorf("without a region: %v", err)
	}
	if s := settings(t, "endpoint=http://h"); s.region == "" || s.checksums {
		t.Errorf("another server: %+v", s)
	}
	if s := settings(t, "endpoint=http://h&request_checksum_calculation=when_supported&region=here"); s.region != "here" || !s.checksums {
		t.Errorf("set by hand: %+v", s)
	}
	t.Setenv("AWS_ENDPOINT_URL", "http://one")
	if s := settings(t, ""); s.endpoint != "http://one" {
		t.Errorf("from the environment: %+v", s)
	}
	t.Setenv("AWS_ENDPOINT_URL_S3", "http://two")
	if s := settings(t, ""); s.endpoint != "http://two" {
		t.Errorf("for S3 alone: %+v", s)
	}
	t.Setenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true")
	if s := settings(t, ""); s.endpoint != "" || !s.checksums {
		t.Errorf("ignored: %+v", s)
	}
}

// Unsupported parameters of a URL are rejected by name.
func TestParametersRefused(t *testing.T) {
	withoutAmazon(t, map[string]string{"AWS_REGION": "here"})
	for _, query := range []string{"regoin=x", "fips=perhaps", "role=admin", "ssetype=none", "request_checksum_calculation=never", "response_checksum_validation=when_supported", "rate_limiter_capacity=1"} {
		l, err := location.Parse("s3://b?" + query)
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(query, "=")
		if _, err := OpenOnce(t.Context(), l); !errors.Is(err, location.ErrURL) || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", query, err)
		}
	}
}
