package bucket

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// azureSigner signs requests with the key of a storage account.
type azureSigner struct {
	send    http.RoundTripper
	account string
	key     []byte
}

func (s *azureSigner) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "SharedKey "+s.account+":"+azureSignature(r, s.account, s.key))
	return s.send.RoundTrip(r)
}

// azureSignature returns the signature of a request (learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key) over
// its method, eleven headers in this order, all x-ms- headers, and its resource.
func azureSignature(r *http.Request, account string, key []byte) string {
	length := ""
	if r.ContentLength > 0 {
		length = strconv.FormatInt(r.ContentLength, 10)
	}
	text := r.Method + "\n"
	for _, name := range []string{"Content-Encoding", "Content-Language", "Content-Length", "Content-Md5", "Content-Type", "Date",
		"If-Modified-Since", "If-Match", "If-None-Match", "If-Unmodified-Since", "Range"} {
		value := r.Header.Get(name)
		switch name {
		case "Content-Length":
			value = length
		case "Date":
			value = "" // X-Ms-Date stands for it
		}
		text += value + "\n"
	}
	var own []string
	for name, values := range r.Header {
		if lower := strings.ToLower(name); strings.HasPrefix(lower, "x-ms-") {
			own = append(own, lower+":"+strings.Join(values, ",")+"\n")
		}
	}
	slices.Sort(own)
	text += strings.Join(own, "") + "/" + account + r.URL.EscapedPath()
	query := r.URL.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		text += "\n" + strings.ToLower(name) + ":" + strings.Join(slices.Sorted(slices.Values(query[name])), ",")
	}
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}
