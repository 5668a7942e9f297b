package bucket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"straggler/bucket/location"
)

// azureBucket is a container of Azure Blob Storage.
type azureBucket struct{ client *container.Client }

// openAzure takes the credentials that the environment names, or those of Azure's own tools.
func openAzure(_ context.Context, l location.Location, retries bool) (Bucket, error) {
	account, err := azureAccountOf(l.Query)
	if err != nil {
		return nil, err
	}
	o := &container.ClientOptions{ClientOptions: policy.ClientOptions{Telemetry: policy.TelemetryOptions{ApplicationID: "straggler"}}}
	if !retries {
		o.Retry.MaxRetries = -1
	}
	client, err := account.client(l.Host, o)
	if err != nil {
		return nil, err
	}
	return &azureBucket{client}, nil
}

// azureAccount is a storage account, and how to reach it.
type azureAccount struct {
	name, key, token, connection string
	protocol, domain             string
	cdn, emulator                bool
}

// azureAccountOf reads the variables of Azure's own tools. The parameters of a URL come before them; a signature of theirs
// is sent to no other server.
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

// server is the URL of the account. That of an emulator has the account's name in its path.
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

func (a *azureAccount) client(name string, o *container.ClientOptions) (*container.Client, error) {
	at := a.server() + "/" + url.PathEscape(name)
	switch {
	case a.name != "" && a.key != "":
		key, err := container.NewSharedKeyCredential(a.name, a.key)
		if err != nil {
			return nil, errors.New("AZURE_STORAGE_KEY is no credential: it is not in base 64")
		}
		return container.NewClientWithSharedKeyCredential(at, key, o)
	case a.token != "":
		return container.NewClientWithNoCredential(at+"?"+strings.TrimPrefix(a.token, "?"), o)
	case a.connection != "":
		return container.NewClientFromConnectionString(a.connection, name, o)
	}
	found, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, err
	}
	return container.NewClient(at, found, o)
}

func (b *azureBucket) Stat(ctx context.Context, key string) (Object, error) {
	a, err := b.client.NewBlobClient(key).GetProperties(ctx, nil)
	if err != nil {
		return Object{}, err
	}
	return Object{Key: key, Size: value(a.ContentLength), Modified: value(a.LastModified)}, nil
}

func (b *azureBucket) Page(ctx context.Context, prefix, delimiter, after string, size int) ([]Object, string, error) {
	if delimiter == "" {
		page, err := b.client.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{
			Prefix: given(prefix), Marker: given(after), MaxResults: to.Ptr(int32(size))}).NextPage(ctx)
		if err != nil || page.Segment == nil {
			return nil, "", err
		}
		return azureObjects(page.Segment.BlobItems), value(page.NextMarker), nil
	}
	page, err := b.client.NewListBlobsHierarchyPager(delimiter, &container.ListBlobsHierarchyOptions{
		Prefix: given(prefix), Marker: given(after), MaxResults: to.Ptr(int32(size))}).NextPage(ctx)
	if err != nil || page.Segment == nil {
		return nil, "", err
	}
	out := azureObjects(page.Segment.BlobItems)
	for _, p := range page.Segment.BlobPrefixes {
		out = append(out, Object{Key: value(p.Name), Dir: true})
	}
	slices.SortFunc(out, func(a, b Object) int { return cmp.Compare(a.Key, b.Key) })
	return out, value(page.NextMarker), nil
}

func azureObjects(items []*container.BlobItem) []Object {
	var out []Object
	for _, i := range items {
		o := Object{Key: value(i.Name)}
		if i.Properties != nil {
			o.Size, o.Modified = value(i.Properties.ContentLength), value(i.Properties.LastModified)
		}
		out = append(out, o)
	}
	return out
}

func (b *azureBucket) Read(ctx context.Context, key string, from, n int64) (*Reader, error) {
	part := blob.HTTPRange{Offset: from, Count: n}
	if n < 0 {
		part.Count = blob.CountToEnd
	}
	r, err := b.client.NewBlobClient(key).DownloadStream(ctx, &blob.DownloadStreamOptions{Range: part})
	if err != nil {
		return nil, err
	}
	return &Reader{r.Body, wholeSize(value(r.ContentLength), value(r.ContentRange)), value(r.LastModified)}, nil
}

func (b *azureBucket) Write(ctx context.Context, key, contentType string, data io.Reader, fresh bool) error {
	o := &blockblob.UploadStreamOptions{BlockSize: PartBytes, Concurrency: partsAtOnce, HTTPHeaders: &blob.HTTPHeaders{BlobContentType: &contentType}}
	if fresh {
		o.AccessConditions = &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)}}
	}
	_, err := b.client.NewBlockBlobClient(key).UploadStream(ctx, data, o)
	return err
}

func (b *azureBucket) Delete(ctx context.Context, key string) error {
	_, err := b.client.NewBlobClient(key).Delete(ctx, nil)
	return err
}

func (b *azureBucket) Close() error { return nil }

// value is that of what an answer may lack.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
