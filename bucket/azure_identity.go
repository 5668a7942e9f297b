package bucket

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// Tokens of Microsoft Entra ID for storage. Credentials are looked for in the same order as by Azure's own libraries
// (learn.microsoft.com/azure/developer/go/sdk/authentication/credential-chains), and the first kind that is set up is used. Not
// supported, with the alternative: PowerShell's log-in (az login), certificates in PKCS #12 (PEM), and the identities of Azure
// Arc, Service Fabric, Machine Learning and the Cloud Shell, which have protocols of their own (az login there, or a secret).

const (
	azureResource = "https://storage.azure.com"
	azureScope    = azureResource + "/.default"
)

// errNoCredential is returned by a kind of credential that is not set up here.
var errNoCredential = errors.New("no credential")

// azureKind is a kind of credential, with its name in AZURE_TOKEN_CREDENTIALS. Its find returns errNoCredential if it is not set
// up.
type azureKind struct {
	name, group string
	find        func(ctx context.Context) (*oauth2.Token, error)
}

var azureKinds = []azureKind{
	{"EnvironmentCredential", "prod", environmentToken},
	{"WorkloadIdentityCredential", "prod", workloadToken},
	{"ManagedIdentityCredential", "prod", managedToken},
	{"AzureCLICredential", "dev", cliToken},
	{"AzureDeveloperCLICredential", "dev", developerCLIToken},
}

// azureTokens returns a source of tokens by the kinds in AZURE_TOKEN_CREDENTIALS, or by all if it is not set. It makes no request.
func azureTokens(ctx context.Context) (oauth2.TokenSource, error) {
	kinds := azureKinds
	if want := os.Getenv("AZURE_TOKEN_CREDENTIALS"); want != "" {
		kinds = slices.DeleteFunc(slices.Clone(kinds), func(k azureKind) bool { return k.group != want && !strings.EqualFold(k.name, want) })
		if len(kinds) == 0 {
			return nil, fmt.Errorf("AZURE_TOKEN_CREDENTIALS names no kind of credential: it is dev, prod, or one of %s", kindNames(azureKinds))
		}
	}
	return oauth2.ReuseTokenSource(nil, &azureChain{ctx: ctx, kinds: kinds}), nil
}

func kindNames(kinds []azureKind) string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return strings.Join(names, ", ")
}

// azureChain tries the kinds in turn, and keeps to the first that returned a token.
type azureChain struct {
	ctx   context.Context
	mu    sync.Mutex
	kinds []azureKind
}

// tokenTimeout is how long a kind may take.
const tokenTimeout = 30 * time.Second

func (c *azureChain) Token() (*oauth2.Token, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var missing []string
	for i, k := range c.kinds {
		ctx, cancel := context.WithTimeout(c.ctx, tokenTimeout)
		token, err := k.find(ctx)
		cancel()
		if err == nil {
			c.kinds = c.kinds[i : i+1]
			return token, nil
		}
		if !errors.Is(err, errNoCredential) {
			return nil, fmt.Errorf("%s: %w", k.name, err)
		}
		missing = append(missing, k.name+" ("+err.Error()+")")
	}
	return nil, fmt.Errorf("%w of Azure was found: %s", errNoCredential, strings.Join(missing, ", "))
}

// unset returns the error for a variable that is not set.
func unset(name string) error { return fmt.Errorf("%w: %s is not set", errNoCredential, name) }

// entra is an application that is registered with a tenant.
type entra struct{ tenant, client string }

func entraOf() (entra, error) {
	e := entra{os.Getenv("AZURE_TENANT_ID"), os.Getenv("AZURE_CLIENT_ID")}
	switch {
	case e.tenant == "":
		return e, unset("AZURE_TENANT_ID")
	case e.client == "":
		return e, unset("AZURE_CLIENT_ID")
	}
	return e, nil
}

// tokenURL returns the address of the tenant's token service. It must use TLS, or be on this machine, because secrets are sent.
func (e entra) tokenURL() (string, error) {
	host := os.Getenv("AZURE_AUTHORITY_HOST")
	if host == "" {
		host = "https://login.microsoftonline.com"
	}
	at, err := url.Parse(host)
	if err != nil || at.Scheme != "https" && at.Hostname() != "127.0.0.1" && at.Hostname() != "localhost" {
		return "", errors.New("AZURE_AUTHORITY_HOST is not a URL with https")
	}
	return at.JoinPath(url.PathEscape(e.tenant), "oauth2/v2.0/token").String(), nil
}

// ask requests a token from the tenant, with a secret or another proof of the application's identity.
func (e entra) ask(ctx context.Context, secret string, proof url.Values) (*oauth2.Token, error) {
	at, err := e.tokenURL()
	if err != nil {
		return nil, err
	}
	c := clientcredentials.Config{ClientID: e.client, ClientSecret: secret, TokenURL: at, Scopes: []string{azureScope},
		EndpointParams: proof, AuthStyle: oauth2.AuthStyleInParams}
	return c.Token(ctx)
}

// assertion returns a signed claim to be an application (RFC 7523 §2.2).
func assertion(text string) url.Values {
	return url.Values{"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}, "client_assertion": {text}}
}

// environmentToken gets the token of an application with a secret or a certificate, or of a user with a password.
func environmentToken(ctx context.Context) (*oauth2.Token, error) {
	e, err := entraOf()
	if err != nil {
		return nil, err
	}
	secret, certificate, user := os.Getenv("AZURE_CLIENT_SECRET"), os.Getenv("AZURE_CLIENT_CERTIFICATE_PATH"), os.Getenv("AZURE_USERNAME")
	switch {
	case secret != "":
		return e.ask(ctx, secret, nil)
	case certificate != "":
		at, err := e.tokenURL()
		if err != nil {
			return nil, err
		}
		signed, err := e.sign(certificate, at)
		if err != nil {
			return nil, fmt.Errorf("the certificate of AZURE_CLIENT_CERTIFICATE_PATH is not a credential: %w", err)
		}
		return e.ask(ctx, "", assertion(signed))
	case user != "":
		return e.ask(ctx, "", url.Values{"grant_type": {"password"}, "username": {user}, "password": {os.Getenv("AZURE_PASSWORD")}})
	}
	return nil, unset("AZURE_CLIENT_SECRET")
}

// sign signs the claim to be an application with the key of its certificate
// (learn.microsoft.com/entra/identity-platform/certificate-credentials).
func (e entra) sign(file, audience string) (string, error) {
	certificates, key, err := readPEM(file)
	if err != nil {
		return "", err
	}
	thumbprint := sha256.Sum256(certificates[0])
	header := map[string]any{"alg": "PS256", "typ": "JWT", "x5t#S256": base64.RawURLEncoding.EncodeToString(thumbprint[:])}
	if send, _ := strconv.ParseBool(os.Getenv("AZURE_CLIENT_SEND_CERTIFICATE_CHAIN")); send {
		header["x5c"] = certificates // JSON has bytes in base 64, as it must be
	}
	now := time.Now()
	claims := map[string]any{"aud": audience, "iss": e.client, "sub": e.client, "jti": rand.Text(), "nbf": now.Unix(), "exp": now.Add(10 * time.Minute).Unix()}
	text := ""
	for _, part := range []map[string]any{header, claims} {
		data, err := json.Marshal(part)
		if err != nil {
			return "", err
		}
		text += base64.RawURLEncoding.EncodeToString(data) + "."
	}
	text = strings.TrimSuffix(text, ".")
	digest := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPSS(rand.Reader, key, crypto.SHA256, digest[:], &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash})
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), err
}

// readPEM returns the certificates of a file, that of its key first, and the key.
func readPEM(file string) (certificates [][]byte, key *rsa.PrivateKey, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		var parsed any
		switch block.Type {
		case "CERTIFICATE":
			certificates = append(certificates, block.Bytes)
			continue
		case "PRIVATE KEY":
			parsed, err = x509.ParsePKCS8PrivateKey(block.Bytes)
		case "RSA PRIVATE KEY":
			parsed, err = x509.ParsePKCS1PrivateKey(block.Bytes)
		default:
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		key, _ = parsed.(*rsa.PrivateKey)
	}
	if key == nil || len(certificates) == 0 {
		return nil, nil, errors.New("it has no certificate and RSA key in PEM without a password; openssl pkcs12 -nodes makes one of PKCS #12")
	}
	for i, c := range certificates {
		parsed, err := x509.ParseCertificate(c)
		if err != nil {
			return nil, nil, err
		}
		if key.PublicKey.Equal(parsed.PublicKey) {
			return slices.Concat(certificates[i:i+1], certificates[:i], certificates[i+1:]), key, nil
		}
	}
	return nil, nil, errors.New("none of its certificates is that of its key")
}

// workloadToken gets the token of a pod whose service account the tenant trusts. The file with the pod's own token changes.
func workloadToken(ctx context.Context) (*oauth2.Token, error) {
	file := os.Getenv("AZURE_FEDERATED_TOKEN_FILE")
	if file == "" {
		return nil, unset("AZURE_FEDERATED_TOKEN_FILE")
	}
	e, err := entraOf()
	if err != nil {
		return nil, err
	}
	signed, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return e.ask(ctx, "", assertion(strings.TrimSpace(string(signed))))
}

// metadataProbe is how long to wait for the service of virtual machines, since nothing answers on a machine without it.
const metadataProbe = time.Second

// managedToken gets the token of the identity of a virtual machine, a node of a cluster, a function or an app.
func managedToken(ctx context.Context) (*oauth2.Token, error) {
	query := url.Values{"resource": {azureResource}}
	if client := os.Getenv("AZURE_CLIENT_ID"); client != "" {
		query.Set("client_id", client)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // through no proxy
	endpoint, secret := os.Getenv("IDENTITY_ENDPOINT"), os.Getenv("IDENTITY_HEADER")
	switch {
	case endpoint != "" && secret != "" && os.Getenv("IDENTITY_SERVER_THUMBPRINT") == "":
		query.Set("api-version", "2019-08-01")
		return metadataToken(ctx, client, endpoint, query, http.Header{"X-Identity-Header": {secret}})
	case endpoint != "" || os.Getenv("MSI_ENDPOINT") != "":
		return nil, fmt.Errorf("%w: identities of Azure Arc, Service Fabric, Machine Learning and the Cloud Shell are not supported", errNoCredential)
	}
	host := os.Getenv("AZURE_POD_IDENTITY_AUTHORITY_HOST")
	if host == "" {
		host = "http://169.254.169.254"
	}
	endpoint = strings.TrimSuffix(host, "/") + "/metadata/identity/oauth2/token"
	probe, cancel := context.WithTimeout(ctx, metadataProbe)
	defer cancel()
	q, err := http.NewRequestWithContext(probe, http.MethodGet, endpoint, nil) // without its header, it is refused
	if err != nil {
		return nil, err
	}
	r, err := client.Do(q)
	if err != nil {
		return nil, fmt.Errorf("%w: this is not a virtual machine of Azure", errNoCredential)
	}
	r.Body.Close()
	query.Set("api-version", "2018-02-01")
	return metadataToken(ctx, client, endpoint, query, http.Header{"Metadata": {"true"}})
}

// maxToken bounds the bytes of an answer with a token.
const maxToken = 1 << 20

// metadataToken requests a token from a service of this machine.
func metadataToken(ctx context.Context, client *http.Client, endpoint string, query url.Values, header http.Header) (*oauth2.Token, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	q.Header = header
	r, err := client.Do(q)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	data, err := io.ReadAll(io.LimitReader(r.Body, maxToken))
	if err != nil {
		return nil, err
	}
	switch {
	case r.StatusCode == http.StatusBadRequest && query.Get("client_id") == "", r.StatusCode == http.StatusForbidden,
		r.StatusCode == http.StatusNotFound: // or a proxy answers, or another cloud
		return nil, fmt.Errorf("%w: this machine has no identity", errNoCredential)
	case r.StatusCode != http.StatusOK:
		return nil, &oauth2.RetrieveError{Response: r, Body: data}
	}
	var reply struct {
		Token   string      `json:"access_token"`
		Expires json.Number `json:"expires_on"` // Unix time, in quotation marks or not
	}
	if err := json.Unmarshal(data, &reply); err != nil || reply.Token == "" {
		return nil, fmt.Errorf("%w: the service of the machine's identity gives no token", errNoCredential)
	}
	token := &oauth2.Token{AccessToken: reply.Token}
	if at, err := reply.Expires.Int64(); err == nil {
		token.Expiry = time.Unix(at, 0)
	}
	return token, nil
}

// cliToken gets the token of the user who has logged in with az login.
func cliToken(ctx context.Context) (*oauth2.Token, error) {
	var reply struct {
		AccessToken string
		ExpiresUnix int64  `json:"expires_on"`
		ExpiresOn   string `json:"expiresOn"` // local time; all that old releases say
	}
	if err := run(ctx, &reply, "az", "account", "get-access-token", "-o", "json", "--resource", azureResource); err != nil {
		return nil, err
	}
	expires := time.Unix(reply.ExpiresUnix, 0)
	if reply.ExpiresUnix == 0 {
		var err error
		if expires, err = time.ParseInLocation("2006-01-02 15:04:05.999999", reply.ExpiresOn, time.Local); err != nil {
			return nil, fmt.Errorf("az does not report when its token expires: %w", err)
		}
	}
	return &oauth2.Token{AccessToken: reply.AccessToken, Expiry: expires}, nil
}

// developerCLIToken gets the token of the user who has logged in with azd auth login.
func developerCLIToken(ctx context.Context) (*oauth2.Token, error) {
	var reply struct {
		Token     string
		ExpiresOn time.Time
	}
	err := run(ctx, &reply, "azd", "auth", "token", "-o", "json", "--no-prompt", "--scope", azureScope)
	return &oauth2.Token{AccessToken: reply.Token, Expiry: reply.ExpiresOn}, err
}

// run runs a program that prints JSON. If the program is missing or nobody is logged in, the error is errNoCredential.
func run(ctx context.Context, into any, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return fmt.Errorf("%w: %s: %s", errNoCredential, name, strings.TrimSpace(string(exit.Stderr)))
		}
		return fmt.Errorf("%w: %s cannot be run", errNoCredential, name)
	}
	if err := json.Unmarshal(out, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
