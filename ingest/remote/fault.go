package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"regexp"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/aws/smithy-go"
	"gocloud.dev/gcerrors"
	"google.golang.org/api/googleapi"

	"straggler/ingest"
)

// fault is an error for people. It carries the kind of the library's error and not the error itself, whose text may
// hold a signed URL.
type fault struct {
	kind error
	text string
}

func (f *fault) Error() string { return f.text }
func (f *fault) Unwrap() error { return f.kind }

// errChanged is the kind of errors about a file that is no longer the one that was listed.
var errChanged = fmt.Errorf("%w: the file was replaced while it was read", ingest.ErrSource)

var errReplaced = &fault{errChanged, "it was replaced after it was listed; repeat the ingest"}

// hints say what to set.
type hints struct{ credentials, address string }

var advice = map[string]hints{
	"s3": {
		credentials: "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or append ?anonymous=true for what is public",
		address:     "set AWS_ENDPOINT_URL, or append ?endpoint=http://HOST:PORT, for a server that is not Amazon's, and AWS_REGION for the region",
	},
	"gs": {
		credentials: "set GOOGLE_APPLICATION_CREDENTIALS, or log in with gcloud auth application-default login, or append ?anonymous=true for what is public",
		address:     "check the network and HTTPS_PROXY; STORAGE_EMULATOR_HOST names a server that is not Google's",
	},
	"azblob": {
		credentials: "set AZURE_STORAGE_ACCOUNT and AZURE_STORAGE_KEY, or AZURE_STORAGE_SAS_TOKEN, or log in with az login",
		address:     "set AZURE_STORAGE_ACCOUNT, and AZURE_STORAGE_DOMAIN for a server that is not Azure's",
	},
	"hdfs": {
		credentials: "set HADOOP_USER_NAME; with Kerberos, HADOOP_CONF_DIR and KRB5_CONFIG, and get a ticket with kinit",
		address:     "write the URL as hdfs://NAMENODE:PORT/PATH, or set HADOOP_CONF_DIR to where core-site.xml is",
	},
}

// explain gives the fault behind an error of a library, for a place of a scheme.
func explain(l location, err error) error {
	var f *fault
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || gcerrors.Code(err) == gcerrors.DeadlineExceeded:
		return &fault{ingest.ErrSource, "there is no answer; " + advice[l.scheme].address}
	case errors.Is(err, errEnded):
		return &fault{ingest.ErrSource, errEnded.Error()}
	}
	code, reason := reasonOf(err)
	switch {
	case code == "NoSuchBucket" || code == "ContainerNotFound":
		return &fault{fs.ErrNotExist, "there is no bucket " + l.host + "; " + advice[l.scheme].address}
	case gcerrors.Code(err) == gcerrors.NotFound || errors.Is(err, fs.ErrNotExist):
		return &fault{fs.ErrNotExist, "there is no such file or bucket"}
	case gcerrors.Code(err) == gcerrors.PermissionDenied || errors.Is(err, fs.ErrPermission) || refused[code] || aboutCredentials(reason):
		return &fault{fs.ErrPermission, "access is denied (" + reason + "); " + advice[l.scheme].credentials}
	case aboutAddress(err, reason):
		return &fault{ingest.ErrSource, "the server can not be reached (" + reason + "); " + advice[l.scheme].address}
	}
	return &fault{ingest.ErrSource, reason}
}

// refused are the codes of S3 for credentials that it does not take.
var refused = map[string]bool{"InvalidAccessKeyId": true, "SignatureDoesNotMatch": true, "ExpiredToken": true, "InvalidToken": true,
	"TokenRefreshRequired": true, "RequestTimeTooSkewed": true, "AuthenticationFailed": true, "AuthorizationFailure": true}

func aboutCredentials(reason string) bool {
	return strings.Contains(strings.ToLower(reason), "credential") || strings.Contains(reason, "kerberos")
}

func aboutAddress(err error, reason string) bool {
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &op) && op.Op == "dial" || errors.As(err, &dns) || strings.Contains(reason, "no available namenodes") || strings.Contains(strings.ToLower(reason), "region")
}

// reasonOf is the innermost thing that a library says, on one line and without secrets; and the service's code for it.
func reasonOf(err error) (code, reason string) {
	var aws smithy.APIError
	var azure *azcore.ResponseError
	var google *googleapi.Error
	var op *net.OpError
	switch {
	case errors.As(err, &aws):
		code, reason = aws.ErrorCode(), aws.ErrorCode()+": "+aws.ErrorMessage()
	case errors.As(err, &azure):
		code, reason = azure.ErrorCode, fmt.Sprintf("%d %s", azure.StatusCode, azure.ErrorCode)
	case errors.As(err, &google):
		reason = fmt.Sprintf("%d %s", google.Code, google.Message)
	case errors.As(err, &op):
		reason = op.Error()
	default:
		reason = err.Error()
	}
	return code, clean(reason)
}

// addresses finds URLs; what stands before an @ and behind a ? in them is dropped.
var addresses = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)(?:[^\s"'?/]*@)?([^\s"'?]*)(?:\?[^\s"']*)?`)

// secrets are the variables whose values must not be shown.
var secrets = []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN",
	"AZURE_STORAGE_CONNECTION_STRING", "AZURE_STORAGEBLOB_CONNECTIONSTRING", "AZURE_CLIENT_SECRET"}

// longest bounds what is said of a library's error, in bytes.
const longest = 300

func clean(text string) string {
	for _, name := range secrets {
		if v := os.Getenv(name); len(v) > 3 {
			text = strings.ReplaceAll(text, v, "…")
		}
	}
	text = strings.Join(strings.Fields(addresses.ReplaceAllString(text, "$1$2")), " ")
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}
