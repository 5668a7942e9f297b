package bucket

import (
	"errors"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"straggler/bucket/location"
)

// What is set by hand is never changed; a server that is not Amazon's gets what it needs.
func TestParametersS3(t *testing.T) {
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_REQUEST_CHECKSUM_CALCULATION"} {
		t.Setenv(name, "")
	}
	if got := parametersS3(url.Values{}).Encode(); got != "response_checksum_validation=when_required" {
		t.Errorf("Amazon's own: %s", got)
	}
	if got := parametersS3(url.Values{"endpoint": {"http://h"}}); got.Get("use_path_style") != "true" || got.Get("region") == "" || got.Get("request_checksum_calculation") != "when_required" {
		t.Errorf("another server: %v", got)
	}
	t.Setenv("AWS_ENDPOINT_URL", "http://h")
	given := url.Values{"use_path_style": {"false"}, "region": {"here"}}
	if got := parametersS3(given); got.Get("use_path_style") != "false" || got.Get("region") != "here" || len(given) != 2 {
		t.Errorf("set by hand: %v, given %v", got, given)
	}
	t.Setenv("AWS_REGION", "there")
	if got := parametersS3(url.Values{}); got.Has("region") {
		t.Errorf("region from the environment: %v", got)
	}
}

// What the parameters of a URL say reaches the client, and what they cannot say is refused by its name.
func TestParametersReachTheClient(t *testing.T) {
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "here", "AWS_PROFILE": "",
		"AWS_ENDPOINT_URL": "", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true"} {
		t.Setenv(name, value)
	}
	of := func(query string) (*s3Bucket, error) {
		l, err := location.Parse("s3://b?" + query)
		if err != nil {
			t.Fatal(err)
		}
		b, err := OpenOnce(t.Context(), l)
		if err != nil {
			return nil, err
		}
		return b.(*s3Bucket), nil
	}
	for query, holds := range map[string]func(o s3.Options, b *s3Bucket) bool{
		"region=there":        func(o s3.Options, _ *s3Bucket) bool { return o.Region == "there" },
		"endpoint=http://h:1": func(o s3.Options, _ *s3Bucket) bool { return *o.BaseEndpoint == "http://h:1" && o.UsePathStyle },
		"use_path_style=true": func(o s3.Options, _ *s3Bucket) bool { return o.UsePathStyle },
		"s3ForcePathStyle=1":  func(o s3.Options, _ *s3Bucket) bool { return o.UsePathStyle },
		"":                    func(o s3.Options, _ *s3Bucket) bool { return !o.UsePathStyle && !o.UseAccelerate && o.Region == "here" },
		"accelerate=true":     func(o s3.Options, _ *s3Bucket) bool { return o.UseAccelerate },
		"disable_https=true":  func(o s3.Options, _ *s3Bucket) bool { return o.EndpointOptions.DisableHTTPS },
		"dualstack=true": func(o s3.Options, _ *s3Bucket) bool {
			return o.EndpointOptions.UseDualStackEndpoint == aws.DualStackEndpointStateEnabled
		},
		"fips=true": func(o s3.Options, _ *s3Bucket) bool {
			return o.EndpointOptions.UseFIPSEndpoint == aws.FIPSEndpointStateEnabled
		},
		"ssetype=AWS:kms&kmskeyid=k": func(_ s3.Options, b *s3Bucket) bool { return b.encryption == "aws:kms" && b.kmsKey == "k" },
		"request_checksum_calculation=when_required": func(o s3.Options, _ *s3Bucket) bool {
			return o.RequestChecksumCalculation == aws.RequestChecksumCalculationWhenRequired
		},
	} {
		b, err := of(query)
		if err != nil || !holds(b.client.Options(), b) {
			t.Errorf("%q: %v", query, err)
		}
	}
	for _, query := range []string{"regoin=x", "fips=perhaps", "role=admin", "ssetype=none", "request_checksum_calculation=never", "rate_limiter_capacity=-1"} {
		name, _, _ := strings.Cut(query, "=")
		if _, err := of(query); !errors.Is(err, location.ErrURL) || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", query, err)
		}
	}
}
