package rest

import (
	"bytes"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"regexp"
	"strings"
)

// Web pages returned instead of an answer: by proxies, logins, and errors.

// approval is the query parameter that makes the proxy of a secured YARN forward a request to an application of another user.
// Without it the proxy answers once with a page that warns of scripts in the application's pages, and sets a cookie; JSON has
// no scripts. (Hadoop's WebAppProxyServlet: PROXY_APPROVED, and the cookie checked_application_….)
const approval = "proxyapproved"

// warns reports whether a page is that warning.
func warns(page []byte) bool { return bytes.Contains(page, []byte(approval+"=true")) }

func isPage(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) > 0 && text[0] == '<'
}

// maxTitle bounds the title of a page in errors.
const maxTitle = 200

var titleOf = regexp.MustCompile(`(?is)<title>(.*?)</title>|<h1>(.*?)</h1>`)

// title returns the title of a page after a colon; "" if it has none.
func title(page []byte) string {
	m := titleOf.FindSubmatch(page)
	if m == nil {
		return ""
	}
	return brief(html.UnescapeString(string(m[1]) + string(m[2])))
}

// brief returns the text of an error on one line, without the status and the error's class that Java servers put first.
func brief(t string) string {
	t = javaError.ReplaceAllString(strings.Join(strings.Fields(t), " "), "")
	if t == "" {
		return ""
	}
	if len(t) > maxTitle {
		t = strings.ToValidUTF8(t[:maxTitle], "") + "…"
	}
	return ": " + t
}

var javaError = regexp.MustCompile(`^(Error \d+ )?(([\w$]+\.)*[\w$]*(Exception|Error): )?`)

// reason returns the message of an error's answer, which is a page or, from Jetty if JSON was requested, an object with a
// message.
func reason(answer *http.Response) string {
	text, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	if err != nil {
		return ""
	}
	var object struct{ Message string }
	reason := ""
	if isPage(text) {
		reason = title(text)
	} else if json.Unmarshal(text, &object) == nil {
		reason = brief(object.Message)
	}
	if reason == ": "+http.StatusText(answer.StatusCode) {
		return ""
	}
	return reason
}

// wantsKerberos reports whether a refusal asks for SPNEGO and nothing else.
func wantsKerberos(answer *http.Response) bool {
	offers := answer.Header.Values("WWW-Authenticate")
	for _, o := range offers {
		if !strings.HasPrefix(o, "Negotiate") {
			return false
		}
	}
	return len(offers) > 0
}
