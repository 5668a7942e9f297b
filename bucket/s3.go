package bucket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	managed "github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/logging"

	"straggler/bucket/location"
)

// s3Bucket is a bucket of a server that speaks the S3 protocol.
type s3Bucket struct {
	client     *s3.Client
	name       string
	encryption types.ServerSideEncryption
	kmsKey     string
}

// openS3 finds credentials and the region where the vendor's own tools do.
func openS3(ctx context.Context, l location.Location, retries bool) (Bucket, error) {
	p, err := parametersOf(parametersS3(l.Query))
	if err != nil {
		return nil, err
	}
	if p.role != "" {
		if err := p.assumeRole(ctx); err != nil {
			return nil, err
		}
	}
	cfg, err := config.LoadDefaultConfig(ctx, append(p.load, config.WithRetryer(p.retryer))...)
	if err != nil {
		return nil, err
	}
	client := s3.NewFromConfig(cfg, append(p.options, func(o *s3.Options) {
		if !retries {
			o.Retryer = aws.NopRetryer{}
		}
		o.Logger = logging.Nop{} // it logs retries to standard error
	})...)
	return &s3Bucket{client, l.Host, p.encryption, p.kmsKey}, nil
}

// parametersS3 adds what servers other than Amazon's need and their users forget: those have no host name for each
// bucket, no regions, and many do not know the checksums that Amazon's library sends behind a body.
func parametersS3(given url.Values) url.Values {
	q := url.Values{}
	for name, values := range given {
		q[name] = values
	}
	set := func(name, value string) {
		if !q.Has(name) {
			q.Set(name, value)
		}
	}
	if q.Has("endpoint") || os.Getenv("AWS_ENDPOINT_URL") != "" || os.Getenv("AWS_ENDPOINT_URL_S3") != "" {
		if !q.Has("s3ForcePathStyle") {
			set("use_path_style", "true")
		}
		if os.Getenv("AWS_REGION")+os.Getenv("AWS_DEFAULT_REGION")+os.Getenv("AWS_PROFILE") == "" && !q.Has("profile") {
			set("region", "us-east-1")
		}
		if os.Getenv("AWS_REQUEST_CHECKSUM_CALCULATION") == "" {
			set("request_checksum_calculation", "when_required")
		}
	}
	set("response_checksum_validation", "when_required") // or the library warns on standard error
	return q
}

// s3Parameters are what the parameters of a URL say.
type s3Parameters struct {
	load       []func(*config.LoadOptions) error
	options    []func(*s3.Options)
	role       string
	rate       uint // tokens of the client's own limit of retries; 0 is none
	encryption types.ServerSideEncryption
	kmsKey     string
}

// parametersOf reads the parameters of a URL; each has the meaning that it has in the Go Cloud Development Kit.
func parametersOf(q url.Values) (*s3Parameters, error) {
	p := &s3Parameters{}
	for _, name := range slices.Sorted(maps.Keys(q)) {
		value := q.Get(name)
		if err := p.set(name, value); err != nil {
			return nil, fmt.Errorf("the parameter %s: %w", name, err)
		}
	}
	return p, nil
}

func (p *s3Parameters) set(name, value string) error {
	yes, notBool := strconv.ParseBool(value)
	switch name {
	case "region":
		p.load = append(p.load, config.WithRegion(value))
		return nil
	case "profile":
		p.load = append(p.load, config.WithSharedConfigProfile(value))
		return nil
	case "endpoint":
		p.options = append(p.options, func(o *s3.Options) { o.BaseEndpoint = &value })
		return nil
	case "role":
		if p.role = value; !strings.HasPrefix(value, "arn:") {
			return errors.New("it names an IAM role, as arn:…")
		}
		return nil
	case "rate_limiter_capacity":
		n, err := strconv.ParseUint(value, 10, 31)
		p.rate = uint(n)
		return err
	case "ssetype":
		for _, known := range p.encryption.Values() {
			if strings.EqualFold(string(known), value) {
				p.encryption = known
				return nil
			}
		}
		return fmt.Errorf("it is one of %v", p.encryption.Values())
	case "kmskeyid":
		p.kmsKey = value
		return nil
	case "request_checksum_calculation":
		choice, err := whenOf(value, aws.RequestChecksumCalculationWhenSupported, aws.RequestChecksumCalculationWhenRequired)
		p.load = append(p.load, config.WithRequestChecksumCalculation(choice))
		return err
	case "response_checksum_validation":
		choice, err := whenOf(value, aws.ResponseChecksumValidationWhenSupported, aws.ResponseChecksumValidationWhenRequired)
		p.load = append(p.load, config.WithResponseChecksumValidation(choice))
		return err
	case "awssdk": // the version of the library, of which there is one
		return nil
	case "anonymous":
		if yes {
			p.load = append(p.load, config.WithCredentialsProvider(aws.AnonymousCredentials{}))
		}
	case "dualstack":
		if yes {
			p.load = append(p.load, config.WithUseDualStackEndpoint(aws.DualStackEndpointStateEnabled))
		}
	case "fips":
		if yes {
			p.load = append(p.load, config.WithUseFIPSEndpoint(aws.FIPSEndpointStateEnabled))
		}
	case "use_path_style", "s3ForcePathStyle":
		p.options = append(p.options, func(o *s3.Options) { o.UsePathStyle = yes })
	case "hostname_immutable":
		p.options = append(p.options, func(o *s3.Options) { o.UsePathStyle = o.UsePathStyle || yes })
	case "accelerate":
		p.options = append(p.options, func(o *s3.Options) { o.UseAccelerate = yes })
	case "disable_https":
		p.options = append(p.options, func(o *s3.Options) { o.EndpointOptions.DisableHTTPS = yes })
	default:
		return errors.New("there is none of this name")
	}
	return notBool
}

func whenOf[T any](value string, supported, required T) (T, error) {
	switch value {
	case "when_supported":
		return supported, nil
	case "when_required":
		return required, nil
	}
	return supported, errors.New("it is when_supported or when_required")
}

func (p *s3Parameters) retryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		if o.RateLimiter = ratelimit.None; p.rate > 0 {
			o.RateLimiter = ratelimit.NewTokenRateLimit(p.rate)
		}
	})
}

// assumeRole takes the credentials of a role, with those that there are.
func (p *s3Parameters) assumeRole(ctx context.Context) error {
	base, err := config.LoadDefaultConfig(ctx, p.load...)
	if err != nil {
		return err
	}
	if base.Region == "" {
		return errors.New("the role's server needs a region; set AWS_REGION")
	}
	p.load = append(p.load, config.WithCredentialsProvider(aws.NewCredentialsCache(stscreds.NewAssumeRoleProvider(sts.NewFromConfig(base), p.role))))
	return nil
}

func (b *s3Bucket) Stat(ctx context.Context, key string) (Object, error) {
	a, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.name, Key: &key})
	if err != nil {
		return Object{}, err
	}
	return Object{Key: key, Size: aws.ToInt64(a.ContentLength), Modified: aws.ToTime(a.LastModified)}, nil
}

func (b *s3Bucket) Page(ctx context.Context, prefix, delimiter, after string, size int) ([]Object, string, error) {
	in := &s3.ListObjectsV2Input{Bucket: &b.name, MaxKeys: aws.Int32(int32(size))}
	in.Prefix, in.Delimiter, in.ContinuationToken = given(prefix), given(delimiter), given(after)
	page, err := b.client.ListObjectsV2(ctx, in)
	if err != nil {
		return nil, "", err
	}
	out := make([]Object, 0, len(page.Contents)+len(page.CommonPrefixes))
	for _, o := range page.Contents {
		out = append(out, Object{Key: aws.ToString(o.Key), Size: aws.ToInt64(o.Size), Modified: aws.ToTime(o.LastModified)})
	}
	for _, p := range page.CommonPrefixes {
		out = append(out, Object{Key: aws.ToString(p.Prefix), Dir: true})
	}
	slices.SortFunc(out, func(a, b Object) int { return cmp.Compare(a.Key, b.Key) })
	return out, aws.ToString(page.NextContinuationToken), nil
}

func (b *s3Bucket) Read(ctx context.Context, key string, from, n int64) (*Reader, error) {
	r, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key, Range: given(byteRange(from, n))})
	if err != nil {
		return nil, err
	}
	return &Reader{r.Body, wholeSize(aws.ToInt64(r.ContentLength), aws.ToString(r.ContentRange)), aws.ToTime(r.LastModified)}, nil
}

// byteRange asks for n bytes from one on (RFC 9110 §14.2), "" for all.
func byteRange(from, n int64) string {
	switch {
	case n >= 0:
		return fmt.Sprintf("bytes=%d-%d", from, from+n-1)
	case from > 0:
		return fmt.Sprintf("bytes=%d-", from)
	}
	return ""
}

// wholeSize is the size of an object that a server sends a part of: the end of bytes 10-14/27 (RFC 9110 §14.4).
func wholeSize(length int64, contentRange string) int64 {
	if _, whole, ok := strings.Cut(contentRange, "/"); ok {
		if n, err := strconv.ParseInt(whole, 10, 64); err == nil {
			return n
		}
	}
	return length
}

func (b *s3Bucket) Write(ctx context.Context, key, contentType string, data io.Reader, fresh bool) error {
	o := b.client.Options()
	m := transfermanager.New(b.client, func(m *transfermanager.Options) {
		m.RequestChecksumCalculation = o.RequestChecksumCalculation // the client's does not count here
		m.PartSizeBytes, m.Concurrency = PartBytes, partsAtOnce
	})
	in := &transfermanager.UploadObjectInput{Bucket: &b.name, Key: &key, ContentType: given(contentType), Body: data,
		ServerSideEncryption: managed.ServerSideEncryption(b.encryption), SSEKMSKeyID: given(b.kmsKey)}
	if fresh {
		in.IfNoneMatch = aws.String("*")
	}
	_, err := m.UploadObject(ctx, in)
	return err
}

func (b *s3Bucket) Delete(ctx context.Context, key string) error {
	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: &key})
	return err
}

func (b *s3Bucket) Close() error { return nil }

// given is nil for what is not asked for.
func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
