package bucket

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"straggler/bucket/azuretest"
	"straggler/bucket/location"
)

// Each kind of credential gets a token from the right source, once, with proof of its identity.
func TestAzureTokens(t *testing.T) {
	form := func(want map[string]string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/tenant/oauth2/v2.0/token" || r.FormValue("scope") != azureScope || r.FormValue("client_id") != "app" {
				return false
			}
			for name, value := range want {
				if r.FormValue(name) != value {
					return false
				}
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"access_token": %q, "token_type": "Bearer", "expires_in": 3600}`, azureTestToken)
			return true
		}
	}
	app := func(t *testing.T) {
		t.Setenv("AZURE_TENANT_ID", "tenant")
		t.Setenv("AZURE_CLIENT_ID", "app")
	}
	for name, set := range map[string]func(*testing.T, *azuretest.Server){
		"secret": func(t *testing.T, b *azuretest.Server) {
			app(t)
			t.Setenv("AZURE_CLIENT_SECRET", "word")
			b.Grant = form(map[string]string{"grant_type": "client_credentials", "client_secret": "word"})
		},
		"user": func(t *testing.T, b *azuretest.Server) {
			app(t)
			t.Setenv("AZURE_USERNAME", "me")
			t.Setenv("AZURE_PASSWORD", "word")
			b.Grant = form(map[string]string{"grant_type": "password", "username": "me", "password": "word"})
		},
		"workload": func(t *testing.T, b *azuretest.Server) {
			app(t)
			file := filepath.Join(t.TempDir(), "token")
			if err := os.WriteFile(file, []byte("a.b.c\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("AZURE_FEDERATED_TOKEN_FILE", file)
			b.Grant = form(map[string]string{"grant_type": "client_credentials", "client_assertion": "a.b.c",
				"client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"})
		},
		"certificate": func(t *testing.T, b *azuretest.Server) {
			app(t)
			file, key, thumbprint := certificate(t)
			t.Setenv("AZURE_CLIENT_CERTIFICATE_PATH", file)
			given := form(nil)
			b.Grant = func(w http.ResponseWriter, r *http.Request) bool {
				if err := proves(r.FormValue("client_assertion"), key, thumbprint, b.URL+"/tenant/oauth2/v2.0/token"); err != nil {
					t.Error(err)
				}
				return given(w, r)
			}
		},
		"virtual machine": func(t *testing.T, b *azuretest.Server) {
			t.Setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", b.URL)
			b.Grant = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/metadata/identity/oauth2/token" || r.Header.Get("Metadata") != "true" || r.FormValue("resource") != azureResource {
					return false
				}
				fmt.Fprintf(w, `{"access_token": %q, "expires_on": "%d"}`, azureTestToken, time.Now().Add(time.Hour).Unix())
				return true
			}
		},
		"app service": func(t *testing.T, b *azuretest.Server) {
			t.Setenv("IDENTITY_ENDPOINT", b.URL+"/msi")
			t.Setenv("IDENTITY_HEADER", "word")
			t.Setenv("AZURE_CLIENT_ID", "app")
			b.Grant = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/msi" || r.Header.Get("X-Identity-Header") != "word" || r.FormValue("client_id") != "app" {
					return false
				}
				fmt.Fprintf(w, `{"access_token": %q, "expires_on": %d}`, azureTestToken, time.Now().Add(time.Hour).Unix())
				return true
			}
		},
		"az": func(t *testing.T, b *azuretest.Server) {
			program(t, "az", `[ "$*" = "account get-access-token -o json --resource https://storage.azure.com" ] || exit 1
echo '{"accessToken": "`+azureTestToken+`", "expiresOn": "2099-01-02 03:04:05.000000", "expires_on": 4070919845}'`)
		},
		"azd": func(t *testing.T, b *azuretest.Server) {
			program(t, "az", "echo 'Please run az login' >&2; exit 1")
			program(t, "azd", `echo '{"token": "`+azureTestToken+`", "expiresOn": "2099-01-02T03:04:05Z"}'`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := azuretest.Serve(t)
			b.May = bearer
			set(t, b)
			granted := 0
			if grant := b.Grant; grant != nil {
				b.Grant = func(w http.ResponseWriter, r *http.Request) bool {
					ok := grant(w, r)
					if ok {
						granted++
					}
					return ok
				}
			}
			opened := openAzureTest(t, b, false)
			for range 2 {
				if err := opened.Write(t.Context(), "a", "", strings.NewReader("x"), false); err != nil {
					t.Fatal(Explain(err, "logs", location.Hints{}))
				}
			}
			if b.Grant != nil && granted != 1 {
				t.Errorf("%d tokens were requested", granted)
			}
		})
	}
}

// program puts a program first in PATH.
func program(t *testing.T, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(os.Getenv("PATH"), name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// certificate makes a file with a key and its certificate.
func certificate(t *testing.T) (file string, public *rsa.PublicKey, thumbprint string) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "tests"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "app.pem")
	text := append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256(der)
	return file, &key.PublicKey, base64.RawURLEncoding.EncodeToString(digest[:])
}

// proves verifies a signed JSON Web Token (RFC 7515, PS256) that claims to be the application.
func proves(token string, key *rsa.PublicKey, thumbprint, audience string) error {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return errors.New("a token has three parts")
	}
	var header struct {
		Alg string
		X5t string `json:"x5t#S256"`
	}
	var claims struct{ Aud, Iss, Sub string }
	for i, into := range []any{&header, &claims} {
		text, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			return err
		}
	}
	if header.Alg != "PS256" || header.X5t != thumbprint || claims.Aud != audience || claims.Iss != "app" || claims.Sub != "app" {
		return fmt.Errorf("header and claims are %+v %+v", header, claims)
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return err
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	return rsa.VerifyPSS(key, crypto.SHA256, digest[:], signature, nil)
}
