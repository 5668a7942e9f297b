package bucket

import (
	"context"
	"encoding/json"
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

	"golang.org/x/oauth2"

	"straggler/bucket/location"
)

var (
	// ErrBroken is returned when a server does not answer, or not as it should.
	ErrBroken = errors.New("the object store does not answer as it should")
	// ErrReplaced is returned when a file was replaced while it was read.
	ErrReplaced = errors.New("the file was replaced while it was read")
)

// Fault is an error for people. It wraps the kind of the library's error (location.ErrURL, ErrBroken, ErrReplaced,
// errors.ErrUnsupported, those of fs, and of syscall about a disk), not the error itself, whose text may contain a signed URL.
type Fault struct {
	Kind error
	Text string
}

func (f *Fault) Error() string { return f.Text }
func (f *Fault) Unwrap() error { return f.Kind }

// Final reports whether retrying is useless.
func (f *Fault) Final() bool { return f.Kind != ErrBroken }

// Explain returns the fault behind an error of a library about a bucket or server, with hints for its users.
func Explain(err error, host string, h location.Hints) *Fault {
	var f *Fault
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return &Fault{ErrBroken, "there is no answer" + h.ThenAddress()}
	}
	a := answerOf(err)
	for _, disk := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS} {
		if errors.Is(err, disk) {
			return &Fault{disk, a.reason}
		}
	}
	switch {
	case a.code == "NoSuchBucket" || a.code == "ContainerNotFound":
		return &Fault{fs.ErrNotExist, "there is no bucket " + host + h.ThenAddress()}
	case a.code == "RequestTimeTooSkewed":
		return &Fault{fs.ErrPermission, "access is denied (" + a.reason + "); set this machine's clock right, or the server's"}
	case a.code == "InvalidObjectState":
		return &Fault{fs.ErrPermission, "it is archived and cannot be read (" + a.reason + "); restore it, or leave it out"}
	case a.status == http.StatusUnauthorized || a.status == http.StatusForbidden || errors.Is(err, fs.ErrPermission) ||
		refused[a.code] || aboutCredentials(a.reason):
		return &Fault{fs.ErrPermission, "access is denied (" + a.reason + ")" + h.ThenCredentials()}
	case a.status == http.StatusNotFound || errors.Is(err, fs.ErrNotExist):
		return &Fault{fs.ErrNotExist, "there is no such file or bucket"}
	case a.status == http.StatusPreconditionFailed || there[a.code] || errors.Is(err, fs.ErrExist):
		return &Fault{fs.ErrExist, "it is there already"}
	case a.code == "NotImplemented":
		return &Fault{errors.ErrUnsupported, a.reason}
	case aboutAddress(err, a.reason):
		return &Fault{ErrBroken, "the server cannot be reached (" + a.reason + ")" + h.ThenAddress()}
	}
	return &Fault{ErrBroken, a.reason}
}

// refused are the codes for rejected credentials, whatever the status.
var refused = map[string]bool{"InvalidAccessKeyId": true, "SignatureDoesNotMatch": true, "ExpiredToken": true, "InvalidToken": true,
	"TokenRefreshRequired": true, "AuthenticationFailed": true, "AuthorizationFailure": true,
	"AuthorizationPermissionMismatch": true, noToken: true}

// there are Azure's codes for an object that must not exist and does, which are conflicts rather than failed conditions.
var there = map[string]bool{"BlobAlreadyExists": true}

// noToken is Google's refusal to issue a token for the credentials found.
const noToken = "no token"

func aboutCredentials(reason string) bool {
	return strings.Contains(strings.ToLower(reason), "credential") || strings.Contains(reason, "kerberos")
}

func aboutAddress(err error, reason string) bool {
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &op) && op.Op == "dial" || errors.As(err, &dns) || strings.Contains(reason, "no available namenodes") ||
		strings.Contains(strings.ToLower(reason), "region")
}

// answer is the answer of a server: HTTP status and code, 0 and "" if there was none, and the innermost message of the library,
// on one line and without secrets.
type answer struct {
	status       int
	code, reason string
}

func answerOf(err error) answer {
	var a answer
	var s3 *s3Error
	var azure *azureError
	var token *oauth2.RetrieveError
	var op *net.OpError
	var request *url.Error
	switch {
	case errors.As(err, &s3):
		a.status, a.code, a.reason = s3.status, s3.code, s3.Error()
	case errors.As(err, &azure):
		a.status, a.code, a.reason = azure.status, azure.code, azure.Error()
	case errors.As(err, &token) && token.Response != nil && token.Response.StatusCode < 500:
		var reply struct {
			Error       string
			Description string `json:"error_description"`
		}
		json.Unmarshal(token.Body, &reply) // what is no JSON says nothing
		a.code, a.reason = noToken, strings.Join(strings.Fields(fmt.Sprintf("no token: %d %s %s", token.Response.StatusCode,
			reply.Error, reply.Description)), " ")
	case errors.As(err, &op):
		a.reason = op.Error()
	case errors.As(err, &request):
		a.reason = request.Error()
	default:
		a.reason = err.Error()
	}
	a.reason = Clean(a.reason)
	return a
}

// addresses finds URLs; the parts before an @ and after a ? are dropped.
var addresses = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)(?:[^\s"'?/]*@)?([^\s"'?]*)(?:\?[^\s"']*)?`)

// secrets are the variables whose values must not be shown.
var secrets = []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN",
	"AZURE_STORAGE_CONNECTION_STRING", "AZURE_STORAGEBLOB_CONNECTIONSTRING", "AZURE_CLIENT_SECRET", "AZURE_PASSWORD", "IDENTITY_HEADER"}

// maxReason bounds the text of a library's error that is kept, in bytes.
const maxReason = 300

// Clean removes secrets from a text and puts it on one line of bounded length.
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
