package bucket

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// files writes Amazon's two files.
func files(t *testing.T, config, keys string) {
	t.Helper()
	dir := t.TempDir()
	for variable, text := range map[string]string{"AWS_CONFIG_FILE": config, "AWS_SHARED_CREDENTIALS_FILE": keys} {
		name := filepath.Join(dir, variable)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv(variable, name)
	}
}

// tokens simulates the service that issues credentials for roles, and counts them: those of ROLE have the key id ROLE.
func tokens(t *testing.T) *url.Values {
	t.Helper()
	last := &url.Values{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		*last = r.Form
		last.Set("signed", r.Header.Get("Authorization"))
		action := r.Form.Get("Action")
		fmt.Fprintf(w, `<%[1]sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><%[1]sResult><Credentials><AccessKeyId>%[2]s</AccessKeyId>
			<SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>%[3]s</Expiration></Credentials></%[1]sResult></%[1]sResponse>`,
			action, strings.TrimPrefix(r.Form.Get("RoleArn"), "arn:aws:iam::1:role/"), time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	}))
	t.Cleanup(server.Close)
	t.Setenv("AWS_ENDPOINT_URL_STS", server.URL)
	return last
}

// keyOf returns the id of the key with which requests are signed, or an error.
func keyOf(t *testing.T, query string) string {
	t.Helper()
	c, err := settings(t, query).credentials()
	if err != nil {
		return err.Error()
	}
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://h/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if q, err = s3Signer(c, http.DefaultClient, "here")(q, nil); err != nil {
		return err.Error()
	}
	_, key, _ := strings.Cut(q.Header.Get("Authorization"), "Credential=")
	key, _, _ = strings.Cut(key, "/")
	return key
}

// Credentials are looked up in the order of Amazon's own libraries, and each way to give them is understood.
func TestCredentials(t *testing.T) {
	withoutAmazon(t, map[string]string{"AWS_REGION": "here"})
	asked := tokens(t)
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("a.b.c"), 0o600); err != nil {
		t.Fatal(err)
	}
	files(t, `
[default]
region = from-config
[profile chained]
role_arn = arn:aws:iam::1:role/second
source_profile = role
role_session_name = night
external_id = x1
duration_seconds = 900
[profile role]
role_arn = arn:aws:iam::1:role/first
source_profile = keys
[profile own]
role_arn = arn:aws:iam::1:role/mine
source_profile = own
[profile loop]
role_arn = arn:aws:iam::1:role/never
source_profile = loop2
[profile loop2]
role_arn = arn:aws:iam::1:role/never
source_profile = loop
[profile process]
credential_process = printf '{"Version": 1, "AccessKeyId": "%s", "SecretAccessKey": "s"}' "of a process"
[profile broken]
credential_process = false
[profile pod]
role_arn = arn:aws:iam::1:role/pod
web_identity_token_file = `+token+`
[profile environment]
role_arn = arn:aws:iam::1:role/environment
credential_source = Environment
[profile code]
role_arn = arn:aws:iam::1:role/code
source_profile = keys
mfa_serial = arn:aws:iam::1:mfa/me
[profile elsewhere]
region = there
services = mine
[services mine]
s3 =
  endpoint_url = http://storage:9000
[bare]
aws_access_key_id = of no profile
aws_secret_access_key = s
`, `
[default]
aws_access_key_id = of default
aws_secret_access_key = s # a comment
[keys]
aws_access_key_id = of keys
aws_secret_access_key = s
[own]
aws_access_key_id = of own
aws_secret_access_key = s
`)
	for query, want := range map[string]string{
		"":                "of default",
		"profile=keys":    "of keys",
		"profile=process": "of a process",
		"profile=role":    "first",
		"profile=chained": "second",
		"profile=own":     "mine",
		"profile=pod":     "pod",
		"profile=keys&role=arn:aws:iam::1:role/given": "given",
	} {
		if got := keyOf(t, query); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
	if keyOf(t, "profile=pod"); asked.Get("WebIdentityToken") != "a.b.c" || asked.Get("Action") != "AssumeRoleWithWebIdentity" {
		t.Errorf("a pod requests %v", asked)
	}
	if keyOf(t, "profile=chained"); asked.Get("RoleSessionName") != "night" || asked.Get("ExternalId") != "x1" ||
		asked.Get("DurationSeconds") != "900" || !strings.Contains(asked.Get("signed"), "Credential=first/") {
		t.Errorf("a chain of roles requests %v", asked)
	}
	for query, want := range map[string]string{"profile=loop": "its own source", "profile=none": "no profile none", "profile=bare": "no profile bare", "profile=broken": "no credential", "profile=code": "export-credentials"} {
		if got := keyOf(t, query); !strings.Contains(got, want) || !strings.Contains(got, "credential") {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
	t.Setenv("AWS_PROFILE", "elsewhere")
	if s := settings(t, ""); s.region != "here" || s.endpoint != "http://storage:9000" {
		t.Errorf("variables and a profile: %+v", s)
	}
	t.Setenv("AWS_REGION", "")
	if s := settings(t, ""); s.region != "there" {
		t.Errorf("the profile's region: %+v", s)
	}
	t.Setenv("AWS_PROFILE", "keys")
	if got := keyOf(t, ""); got != "of keys" {
		t.Errorf("AWS_PROFILE: %q", got)
	}
	t.Setenv("AWS_ROLE_ARN", "arn:aws:iam::1:role/ofpod")
	t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", token)
	if got := keyOf(t, ""); got != "ofpod" {
		t.Errorf("a token file in the environment: %q", got)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "of environment")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s")
	if got := keyOf(t, ""); got != "of environment" {
		t.Errorf("keys in the environment: %q", got)
	}
	if got := keyOf(t, "profile=keys"); got != "of keys" {
		t.Errorf("a profile in the URL and keys in the environment: %q", got)
	}
	t.Setenv("AWS_REGION", "here")
	if got := keyOf(t, "profile=environment"); got != "environment" || !strings.Contains(asked.Get("signed"), "Credential=of environment/") {
		t.Errorf("a role in the environment: %q %v", got, asked)
	}
}

// The services of containers and virtual machines are asked if nothing else is configured.
func TestCredentialsOfMachines(t *testing.T) {
	withoutAmazon(t, nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/container", strings.HasSuffix(r.URL.Path, "/security-credentials/node"):
			fmt.Fprintf(w, `{"Code": "Success", "AccessKeyId": "of %s", "SecretAccessKey": "s", "Token": "t", "Expiration": %q}`,
				filepath.Base(r.URL.Path), time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
		case strings.HasSuffix(r.URL.Path, "/security-credentials/"):
			fmt.Fprint(w, "node")
		default:
			fmt.Fprint(w, "a token")
		}
	}))
	defer server.Close()
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.URL)
	if got := keyOf(t, ""); !strings.Contains(got, "no credential") {
		t.Errorf("a machine whose service is turned off: %q", got)
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "")
	if got := keyOf(t, ""); got != "of node" {
		t.Errorf("a virtual machine: %q", got)
	}
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", server.URL+"/container")
	if got := keyOf(t, ""); got != "of container" {
		t.Errorf("a container: %q", got)
	}
}
