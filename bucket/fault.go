package bucket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"syscall"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/aws/smithy-go"
	"gocloud.dev/gcerrors"
	"google.golang.org/api/googleapi"
)

var (
	// ErrURL is returned when a URL cannot be used.
	ErrURL = errors.New("wrong URL")
	// ErrBroken is returned when a server does not answer, or not as it should.
	ErrBroken = errors.New("the object store does not answer as it should")
	// ErrReplaced is returned when a file was replaced while it was read.
	ErrReplaced = errors.New("the file was replaced while it was read")
)

// Fault is an error for people. It carries the kind of the library's error (ErrURL, ErrBroken, ErrReplaced,
// errors.ErrUnsupported, those of fs, and of syscall about a disk) and not the error itself, whose text may hold a signed URL.
type Fault struct {
	Kind error
	Text string
}

func (f *Fault) Error() string { return f.Text }
func (f *Fault) Unwrap() error { return f.Kind }

// Final reports whether trying again is useless.
func (f *Fault) Final() bool { return f.Kind != ErrBroken }

// Hints are what users can set to mend an error.
type Hints struct{ Credentials, Address string }

func (h Hints) credentials() string { return h.Credentials }
func (h Hints) address() string     { return h.Address }

// then is a hint as the end of a sentence, "" where there is none.
func (h Hints) then(which func(Hints) string) string {
	if which(h) == "" {
		return ""
	}
	return "; " + which(h)
}

// hints of the object stores.
var hints = map[string]Hints{
	"s3": {
		Credentials: "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or append ?anonymous=true for what is public",
		Address:     "set AWS_ENDPOINT_URL, or append ?endpoint=http://HOST:PORT, for a server that is not Amazon's, and AWS_REGION for the region",
	},
	"gs": {
		Credentials: "set GOOGLE_APPLICATION_CREDENTIALS, or log in with gcloud auth application-default login, or append ?anonymous=true for what is public",
		Address:     "check the network and HTTPS_PROXY; STORAGE_EMULATOR_HOST names a server that is not Google's",
	},
	"azblob": {
		Credentials: "set AZURE_STORAGE_ACCOUNT and AZURE_STORAGE_KEY, or AZURE_STORAGE_SAS_TOKEN, or log in with az login",
		Address:     "set AZURE_STORAGE_ACCOUNT, and AZURE_STORAGE_DOMAIN for a server that is not Azure's",
	},
}

// Explain gives the fault behind an error of a library, of a bucket or server, with hints for its users.
func Explain(err error, host string, h Hints) *Fault {
	var f *Fault
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || gcerrors.Code(err) == gcerrors.DeadlineExceeded:
		return &Fault{ErrBroken, "there is no answer" + h.then(Hints.address)}
	}
	code, reason := reasonOf(err)
	for _, disk := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS} {
		if errors.Is(err, disk) {
			return &Fault{disk, reason}
		}
	}
	switch {
	case code == "NoSuchBucket" || code == "ContainerNotFound":
		return &Fault{fs.ErrNotExist, "there is no bucket " + host + h.then(Hints.address)}
	case code == "RequestTimeTooSkewed":
		return &Fault{fs.ErrPermission, "access is denied (" + reason + "); set this machine's clock right, or the server's"}
	case gcerrors.Code(err) == gcerrors.PermissionDenied || errors.Is(err, fs.ErrPermission) || refused[code] || aboutCredentials(reason):
		return &Fault{fs.ErrPermission, "access is denied (" + reason + ")" + h.then(Hints.credentials)}
	case gcerrors.Code(err) == gcerrors.NotFound || errors.Is(err, fs.ErrNotExist):
		return &Fault{fs.ErrNotExist, "there is no such file or bucket"}
	case gcerrors.Code(err) == gcerrors.FailedPrecondition || errors.Is(err, fs.ErrExist):
		return &Fault{fs.ErrExist, "it is there already"}
	case code == "NotImplemented":
		return &Fault{errors.ErrUnsupported, reason}
	case aboutAddress(err, reason):
		return &Fault{ErrBroken, "the server cannot be reached (" + reason + ")" + h.then(Hints.address)}
	}
	return &Fault{ErrBroken, reason}
}

// refused are the codes of S3 for credentials that it does not take.
var refused = map[string]bool{"InvalidAccessKeyId": true, "SignatureDoesNotMatch": true, "ExpiredToken": true, "InvalidToken": true,
	"TokenRefreshRequired": true, "AuthenticationFailed": true, "AuthorizationFailure": true,
	"AuthorizationPermissionMismatch": true, googleRefused: true}

// googleRefused stands for the answers 401 and 403 of Google's, which has no codes; its library takes 403 for something that is not there.
const googleRefused = "refused"

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
	var request *url.Error
	switch {
	case errors.As(err, &aws):
		code, reason = aws.ErrorCode(), aws.ErrorCode()+": "+aws.ErrorMessage()
	case errors.As(err, &azure):
		code, reason = azure.ErrorCode, fmt.Sprintf("%d %s", azure.StatusCode, azure.ErrorCode)
	case errors.As(err, &google):
		reason = fmt.Sprintf("%d %s", google.Code, google.Message)
		if google.Code == http.StatusForbidden || google.Code == http.StatusUnauthorized {
			code = googleRefused
		}
	case errors.As(err, &op):
		reason = op.Error()
	case errors.As(err, &request):
		reason = request.Error()
	default:
		reason = err.Error()
	}
	return code, Clean(reason)
}

// addresses finds URLs; what stands before an @ and behind a ? in them is dropped.
var addresses = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)(?:[^\s"'?/]*@)?([^\s"'?]*)(?:\?[^\s"']*)?`)

// secrets are the variables whose values must not be shown.
var secrets = []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN",
	"AZURE_STORAGE_CONNECTION_STRING", "AZURE_STORAGEBLOB_CONNECTIONSTRING", "AZURE_CLIENT_SECRET"}

// maxReason bounds the text of a library's error that is kept, in bytes.
const maxReason = 300

// Clean takes secrets out of a text and puts it on one line of bounded length.
func Clean(text string) string {
	for _, name := range secrets {
		if v := os.Getenv(name); len(v) > 3 {
			text = strings.ReplaceAll(text, v, "…")
		}
	}
	text = strings.Join(strings.Fields(addresses.ReplaceAllString(text, "$1$2")), " ")
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + "…"
	}
	return text
}
