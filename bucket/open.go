package bucket

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go/logging"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // azblob:
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/blob/s3blob"
	"gocloud.dev/gcp"
)

// Open opens the bucket of a location and asks the server nothing yet. The keys of a file URL are relative to its
// directory; those of all others to the bucket, whatever the path of the URL.
func Open(ctx context.Context, l Location) (*blob.Bucket, error) {
	if !slices.Contains(Schemes, l.Scheme) {
		return nil, fmt.Errorf("%w: there is no bucket of %s; there are %s", ErrURL, l.Scheme, strings.Join(Schemes, ", "))
	}
	b, err := open(context.WithoutCancel(ctx), l) // tokens are renewed under the context, long after the call
	if err != nil {
		_, reason := reasonOf(err)
		if aboutCredentials(reason) {
			return nil, &Fault{fs.ErrPermission, "access needs credentials (" + reason + ")" + l.Hints().then(Hints.credentials)}
		}
		return nil, &Fault{ErrURL, "the URL cannot be used: " + reason}
	}
	return b, nil
}

// OpenOnce is Open for callers with a RetryPolicy: the library for S3 does not retry as well, which would multiply the
// tries. Those of the others retry until the context ends.
func OpenOnce(ctx context.Context, l Location) (*blob.Bucket, error) {
	b, err := Open(ctx, l)
	var client *s3.Client
	if err != nil || !b.As(&client) {
		return b, err
	}
	o := client.Options()
	o.Retryer = aws.NopRetryer{}
	o.Logger = logging.Nop{} // it logs retries to standard error
	again, err := s3blob.OpenBucket(ctx, s3.New(o), l.Host, &s3blob.Options{EncryptionType: types.ServerSideEncryption(l.Query.Get("ssetype")),
		KMSEncryptionID: l.Query.Get("kmskeyid"), RequestChecksumCalculation: o.RequestChecksumCalculation})
	if err != nil {
		return nil, Explain(err, l.Host, l.Hints())
	}
	return again, b.Close()
}

func open(ctx context.Context, l Location) (*blob.Bucket, error) {
	if l.Scheme == "file" {
		return fileblob.OpenBucket(l.Path, &fileblob.Options{NoTempDir: true, CreateDir: true, Metadata: fileblob.MetadataDontWrite})
	}
	query := l.Query
	if l.Scheme == "s3" {
		query = parametersS3(query)
	}
	u := &url.URL{Scheme: l.Scheme, Host: l.Host, RawQuery: query.Encode()}
	if l.Scheme == "gs" {
		return openGoogle(ctx, u)
	}
	return blob.DefaultURLMux().OpenBucketURL(ctx, u)
}

// openGoogle does what the library does by itself, which would print to standard output that there are no credentials, and
// go on without.
func openGoogle(ctx context.Context, u *url.URL) (*blob.Bucket, error) {
	q := u.Query()
	if q.Get("anonymous") == "true" || q.Get("access_id") == "-" || os.Getenv("STORAGE_EMULATOR_HOST") != "" {
		return (&gcsblob.URLOpener{Client: gcp.NewAnonymousHTTPClient(gcp.DefaultTransport())}).OpenBucketURL(ctx, u)
	}
	found, err := gcp.DefaultCredentials(ctx)
	if err != nil {
		return nil, err
	}
	client, err := gcp.NewHTTPClient(gcp.DefaultTransport(), gcp.CredentialsTokenSource(found))
	if err != nil {
		return nil, err
	}
	return (&gcsblob.URLOpener{Client: client}).OpenBucketURL(ctx, u)
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
