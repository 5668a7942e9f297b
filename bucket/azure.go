package bucket

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"straggler/bucket/location"
)

// azureBucket is a container of Azure Blob Storage, by its REST API (learn.microsoft.com/rest/api/storageservices).
type azureBucket struct {
	at     string     // URL of the container
	token  url.Values // a shared access signature, which every request has in its query
	client *http.Client
	tries  int
}

// azureVersion is the version of the API. Storage emulators and Azure Stack support it, too.
const azureVersion = "2021-12-02"

// openAzure uses the credentials in the environment, or those of Azure's own tools.
func openAzure(ctx context.Context, l location.Location, retries bool) (Bucket, error) {
	account, err := azureAccountOf(l.Query)
	if err != nil {
		return nil, err
	}
	b := &azureBucket{tries: 1}
	if retries {
		b.tries = 4 // the libraries of Azure try as often
	}
	return b, account.reach(ctx, b, l.Host)
}

// azureAccount is a storage account, with its address and credentials.
type azureAccount struct {
	name, key, token, connection string
	protocol, domain             string
	cdn, emulator                bool
}

// azureAccountOf reads the variables of Azure's own tools. The parameters of a URL take precedence; a signature in the
// variables is sent only to the server that the variables name.
func azureAccountOf(parameters url.Values) (*azureAccount, error) {
	a := &azureAccount{
		name: os.Getenv("AZURE_STORAGE_ACCOUNT"), key: os.Getenv("AZURE_STORAGE_KEY"), token: os.Getenv("AZURE_STORAGE_SAS_TOKEN"),
		connection: cmp.Or(os.Getenv("AZURE_STORAGE_CONNECTION_STRING"), os.Getenv("AZURE_STORAGEBLOB_CONNECTIONSTRING")),
		protocol:   os.Getenv("AZURE_STORAGE_PROTOCOL"), domain: os.Getenv("AZURE_STORAGE_DOMAIN"),
	}
	a.cdn, _ = strconv.ParseBool(os.Getenv("AZURE_STORAGE_IS_CDN"))
	a.emulator, _ = strconv.ParseBool(os.Getenv("AZURE_STORAGE_IS_LOCAL_EMULATOR"))
	for part := range strings.SplitSeq(a.connection, ";") {
		switch name, value, _ := strings.Cut(part, "="); name {
		case "AccountName":
			a.name = cmp.Or(a.name, value)
		case "DefaultEndpointsProtocol":
			a.protocol = cmp.Or(a.protocol, value)
		}
	}
	of := *a
	for name := range parameters {
		if err := of.set(name, parameters.Get(name)); err != nil {
			return nil, fmt.Errorf("the parameter %s: %w", name, err)
		}
	}
	if of.name == "" {
		return nil, errors.New("it needs the storage account's name, AZURE_STORAGE_ACCOUNT")
	}
	if a.token != "" && of.server() != a.server() {
		return nil, errors.New("its parameters name another server than the one that AZURE_STORAGE_SAS_TOKEN is for")
	}
	return &of, nil
}

func (a *azureAccount) set(name, value string) (err error) {
	switch name {
	case "domain":
		a.domain = value
	case "protocol":
		if a.protocol = value; value != "http" && value != "https" {
			err = errors.New("it is http or https")
		}
	case "storage_account":
		a.name = value
	case "cdn":
		a.cdn, err = strconv.ParseBool(value)
	case "localemu":
		a.emulator, err = strconv.ParseBool(value)
	default:
		err = errors.New("there is none of this name")
	}
	return err
}

// server returns the URL of the account. That of an emulator has the account's name in its path.
func (a *azureAccount) server() string {
	protocol, domain := cmp.Or(a.protocol, "https"), cmp.Or(a.domain, "blob.core.windows.net")
	switch {
	case a.emulator || strings.HasPrefix(domain, "127.0.0.1") || strings.HasPrefix(domain, "localhost"):
		return protocol + "://" + domain + "/" + a.name
	case a.cdn:
		return protocol + "://" + domain
	}
	return protocol + "://" + a.name + "." + domain
}

// reach sets the URL of a container, and how requests for it are signed.
func (a *azureAccount) reach(ctx context.Context, b *azureBucket, name string) (err error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	transport.DisableCompression = true // or what is stored as gzip comes without it, and in another length
	b.client = &http.Client{Transport: transport}
	server, key, token := a.server(), a.key, a.token
	if key == "" && token == "" && a.connection != "" {
		if server, key, token, err = a.connected(); err != nil {
			return err
		}
	}
	b.at = strings.TrimSuffix(server, "/") + "/" + url.PathEscape(name)
	switch {
	case key != "":
		secret, err := base64.StdEncoding.DecodeString(key)
		if err != nil {
			return errors.New("AZURE_STORAGE_KEY is not a credential: it is not in base 64")
		}
		b.client.Transport = &azureSigner{send: transport, account: a.name, key: secret}
	case token != "":
		if b.token, err = url.ParseQuery(strings.TrimPrefix(token, "?")); err != nil {
			return errors.New("AZURE_STORAGE_SAS_TOKEN is not a credential: it is not a query")
		}
	default:
		source, err := azureTokens(ctx)
		if err != nil {
			return err
		}
		b.client.Transport = &oauth2.Transport{Base: transport, Source: source}
	}
	return nil
}

// connected parses the connection string (learn.microsoft.com/azure/storage/common/storage-configure-connection-string).
func (a *azureAccount) connected() (server, key, token string, err error) {
	settings := map[string]string{}
	for part := range strings.SplitSeq(strings.TrimRight(a.connection, ";"), ";") {
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			return "", "", "", errors.New("AZURE_STORAGE_CONNECTION_STRING is not a credential: it is not of the form NAME=VALUE;NAME=VALUE")
		}
		settings[name] = value
	}
	a.name = cmp.Or(settings["AccountName"], a.name)
	server = cmp.Or(settings["BlobEndpoint"],
		cmp.Or(settings["DefaultEndpointsProtocol"], "https")+"://"+a.name+".blob."+cmp.Or(settings["EndpointSuffix"], "core.windows.net"))
	if key, token = settings["AccountKey"], settings["SharedAccessSignature"]; key == "" && token == "" {
		err = errors.New("AZURE_STORAGE_CONNECTION_STRING is not a credential: it has neither AccountKey nor SharedAccessSignature")
	}
	return server, key, token, err
}

// azureError is an error response. The text of its body is not kept, because it may contain the signed text.
type azureError struct {
	status int
	code   string
}

func (e *azureError) answered() int { return e.status }

func (e *azureError) Error() string { return strings.TrimSpace(fmt.Sprintf("%d %s", e.status, e.code)) }

// do sends a request for a blob, or for the container where key is "", until it is answered or fails for good.
func (b *azureBucket) do(ctx context.Context, c call) (*http.Response, error) {
	return retried(ctx, b.tries, final, func() (*http.Response, error) { return b.once(ctx, c) })
}

func (b *azureBucket) once(ctx context.Context, c call) (*http.Response, error) {
	at := b.at
	if c.key != "" {
		at += "/" + url.PathEscape(c.key)
	}
	all := url.Values{}
	for _, values := range []url.Values{c.query, b.token} {
		for name := range values {
			all.Set(name, values.Get(name))
		}
	}
	if len(all) > 0 {
		at += "?" + strings.ReplaceAll(all.Encode(), "+", "%20") // a plus is a plus to some servers
	}
	q, err := http.NewRequestWithContext(ctx, c.method, at, bytes.NewReader(c.body))
	if err != nil {
		return nil, err
	}
	q.Header.Set("X-Ms-Version", azureVersion)
	q.Header.Set("X-Ms-Date", time.Now().UTC().Format(http.TimeFormat))
	q.Header.Set("User-Agent", "straggler")
	for name, value := range c.header {
		q.Header.Set(name, value)
	}
	r, err := b.client.Do(q)
	if err != nil || r.StatusCode < 300 {
		return r, err
	}
	io.Copy(io.Discard, io.LimitReader(r.Body, 64<<10)) // so that the connection can be used again
	r.Body.Close()
	return nil, &azureError{r.StatusCode, r.Header.Get("X-Ms-Error-Code")}
}

// effect sends a request, and reads only the status of the response.
func (b *azureBucket) effect(ctx context.Context, c call) error {
	r, err := b.do(ctx, c)
	if err != nil {
		return err
	}
	return r.Body.Close()
}

func (b *azureBucket) Stat(ctx context.Context, key string) (Object, error) {
	r, err := b.do(ctx, call{method: http.MethodHead, key: key})
	if err != nil {
		return Object{}, err
	}
	return Object{Key: key, Size: r.ContentLength, Modified: modified(r)}, r.Body.Close()
}

// azureName is the name of a blob. A name with characters that XML cannot represent is percent-encoded.
type azureName struct {
	Encoded bool   `xml:"Encoded,attr"`
	Text    string `xml:",chardata"`
}

func (n azureName) key() (string, error) {
	if !n.Encoded {
		return n.Text, nil
	}
	return url.PathUnescape(n.Text)
}

// azurePage is a response to List Blobs.
type azurePage struct {
	XMLName xml.Name `xml:"EnumerationResults"`
	Blobs   []struct {
		Name     azureName
		Size     int64  `xml:"Properties>Content-Length"`
		Modified string `xml:"Properties>Last-Modified"`
	} `xml:"Blobs>Blob"`
	Prefixes []struct{ Name azureName } `xml:"Blobs>BlobPrefix"`
	Next     string                     `xml:"NextMarker"`
}

func (b *azureBucket) Page(ctx context.Context, prefix, delimiter, after string, size int) ([]Object, string, error) {
	query := withGiven(url.Values{"restype": {"container"}, "comp": {"list"}, "maxresults": {strconv.Itoa(size)}},
		map[string]string{"prefix": prefix, "delimiter": delimiter, "marker": after})
	r, err := b.do(ctx, call{method: http.MethodGet, query: query})
	if err != nil {
		return nil, "", err
	}
	var page azurePage
	if err := readPage(r, &page); err != nil {
		return nil, "", err
	}
	var out []Object
	for _, x := range page.Blobs {
		key, err := x.Name.key()
		if err != nil {
			return nil, "", fmt.Errorf("the listing of the container: %w", err)
		}
		at, err := http.ParseTime(x.Modified)
		if err != nil {
			at = time.Time{}
		}
		out = append(out, Object{Key: key, Size: x.Size, Modified: at})
	}
	for _, x := range page.Prefixes {
		key, err := x.Name.key()
		if err != nil {
			return nil, "", fmt.Errorf("the listing of the container: %w", err)
		}
		out = append(out, Object{Key: key, Dir: true})
	}
	sortByKey(out)
	return out, page.Next, nil
}

func (b *azureBucket) Read(ctx context.Context, key string, from, n int64) (*Reader, error) {
	header := map[string]string{}
	if part := byteRange(from, n); part != "" {
		header["Range"] = part
	}
	r, err := b.do(ctx, call{method: http.MethodGet, key: key, header: header})
	if err != nil {
		return nil, err
	}
	return &Reader{r.Body, wholeSize(r.ContentLength, r.Header.Get("Content-Range")), modified(r)}, nil
}

// Write uploads data that fits into one part with one request, and other data as blocks followed by the list of them.
func (b *azureBucket) Write(ctx context.Context, key, contentType string, data io.Reader, fresh bool) error {
	header := map[string]string{}
	if contentType != "" {
		header["X-Ms-Blob-Content-Type"] = contentType
	}
	if fresh {
		header["If-None-Match"] = "*"
	}
	part, err := readPart(data)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if errors.Is(err, io.EOF) {
		header["X-Ms-Blob-Type"] = "BlockBlob"
		return b.effect(ctx, call{method: http.MethodPut, key: key, header: header, body: part})
	}
	list, err := b.putBlocks(ctx, key, part, data)
	if err != nil {
		return err
	}
	return b.effect(ctx, call{method: http.MethodPut, key: key, query: url.Values{"comp": {"blocklist"}}, header: header, body: list})
}

// putBlocks uploads a part and the parts after it as blocks, and returns the block list.
func (b *azureBucket) putBlocks(ctx context.Context, key string, part []byte, data io.Reader) ([]byte, error) {
	ids, err := sendParts(ctx, part, data, func(ctx context.Context, n int, part []byte) (string, error) {
		// all ids of a blob must have the same length
		id := base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, uint64(n)))
		return id, b.effect(ctx, call{method: http.MethodPut, key: key, query: url.Values{"comp": {"block"}, "blockid": {id}}, body: part})
	})
	if err != nil {
		return nil, err
	}
	list := bytes.NewBufferString(xml.Header + "<BlockList>")
	for _, id := range ids {
		fmt.Fprintf(list, "<Latest>%s</Latest>", id)
	}
	list.WriteString("</BlockList>")
	return list.Bytes(), nil
}

func (b *azureBucket) Delete(ctx context.Context, key string) error {
	return b.effect(ctx, call{method: http.MethodDelete, key: key})
}

func (b *azureBucket) Close() error { b.client.CloseIdleConnections(); return nil }
