package bucket

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"hash/crc32"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/s3utils"

	"straggler/bucket/location"
)

// s3Bucket is a bucket of a server that speaks the S3 protocol (docs.aws.amazon.com/AmazonS3/latest/API).
type s3Bucket struct {
	at     string // URL of the bucket
	client *http.Client
	sign   func(q *http.Request, body []byte) (*http.Request, error) // nil where the client signs, or nothing does
	tries  int

	fresh     header            // the condition that there is no such object
	reads     map[string]string // headers of requests for an object's bytes
	writes    map[string]string // headers of requests that make an object
	checksums bool              // sent with what is written, and kept by the server with it
}

type header struct{ name, value string }

// openS3 finds the credentials and the region in the same places as Amazon's own tools.
func openS3(_ context.Context, l location.Location, retries bool) (Bucket, error) {
	s, err := s3SettingsOf(l.Query)
	if err != nil {
		return nil, err
	}
	at, err := s.bucketURL(l.Host)
	if err != nil {
		return nil, err
	}
	transport, err := s3Transport()
	if err != nil {
		return nil, err
	}
	b := &s3Bucket{at: at, client: s3Client(transport), tries: 1, fresh: header{"If-None-Match", "*"}, writes: s.encryption(), checksums: s.checksums}
	if retries {
		b.tries = s.tries
	}
	if !s.anonymous {
		found, err := s.credentials()
		if err != nil {
			return nil, err
		}
		b.sign = s3Signer(found, &http.Client{Transport: transport, Timeout: tokenTimeout}, s.region)
	}
	return b, nil
}

// s3Client follows no redirections: a request is signed for one host.
func s3Client(send http.RoundTripper) *http.Client {
	return &http.Client{Transport: send, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// s3Error is an error response.
type s3Error struct {
	status        int
	code, message string
}

func (e *s3Error) answered() int { return e.status }

func (e *s3Error) Error() string { return e.code + ": " + e.message }

// maxRefusal bounds the bytes that are read of an error response.
const maxRefusal = 64 << 10

// refusalOf reads an error response. The response to a HEAD request has only a status.
func refusalOf(r *http.Response) *s3Error {
	var reply struct {
		XMLName       xml.Name `xml:"Error"`
		Code, Message string
	}
	data, err := io.ReadAll(io.LimitReader(r.Body, maxRefusal))
	if err == nil {
		err = xml.Unmarshal(data, &reply)
	}
	e := &s3Error{r.StatusCode, reply.Code, reply.Message}
	if err != nil || reply.Code == "" {
		e.code, e.message = strings.ReplaceAll(http.StatusText(r.StatusCode), " ", ""), r.Status
	}
	if region := r.Header.Get("X-Amz-Bucket-Region"); region != "" && r.StatusCode < 500 && passedOn[r.StatusCode] {
		e.message += "; the bucket is in the region " + region
	}
	return e
}

// passedOn are the status codes with which a region responds for a bucket of another region.
var passedOn = map[int]bool{http.StatusMovedPermanently: true, http.StatusTemporaryRedirect: true, http.StatusBadRequest: true}

// do sends a request for an object, or for the bucket where key is "", until it is answered or fails for good.
func (b *s3Bucket) do(ctx context.Context, c call) (*http.Response, error) {
	return retried(ctx, b.tries, final, func() (*http.Response, error) { return b.once(ctx, c) })
}

func (b *s3Bucket) once(ctx context.Context, c call) (*http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, c.method, b.at, bytes.NewReader(c.body))
	if err != nil {
		return nil, err
	}
	if c.key != "" {
		q.URL.Path = strings.TrimSuffix(q.URL.Path, "/") + "/" + c.key
		q.URL.RawPath = s3utils.EncodePath(q.URL.Path) // as it is signed
	}
	q.URL.RawQuery = strings.ReplaceAll(c.query.Encode(), "+", "%20")
	q.Header.Set("User-Agent", "straggler")
	for name, value := range c.header {
		q.Header.Set(name, value)
	}
	if b.sign != nil {
		if q, err = b.sign(q, c.body); err != nil {
			return nil, err
		}
	}
	r, err := b.client.Do(q)
	if err != nil || r.StatusCode < 300 {
		return r, err
	}
	defer r.Body.Close()
	return nil, refusalOf(r)
}

// effect sends a request and reads the short response.
func (b *s3Bucket) effect(ctx context.Context, c call) (*http.Response, []byte, error) {
	r, err := b.do(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	defer r.Body.Close()
	data, err := io.ReadAll(io.LimitReader(r.Body, maxRefusal))
	return r, data, err
}

func (b *s3Bucket) Stat(ctx context.Context, key string) (Object, error) {
	r, err := b.do(ctx, call{method: http.MethodHead, key: key})
	if err != nil {
		return Object{}, err
	}
	return Object{Key: key, Size: r.ContentLength, Modified: modified(r)}, r.Body.Close()
}

// s3Page is a response to ListObjectsV2.
type s3Page struct {
	XMLName xml.Name `xml:"ListBucketResult"` // a proxy's own page is not an empty listing
	Objects []struct {
		Key          string
		Size         int64
		LastModified time.Time
	} `xml:"Contents"`
	Prefixes []struct{ Prefix string } `xml:"CommonPrefixes"`
	Next     string                    `xml:"NextContinuationToken"`
}

func (b *s3Bucket) Page(ctx context.Context, prefix, delimiter, after string, size int) ([]Object, string, error) {
	query := withGiven(url.Values{"list-type": {"2"}, "max-keys": {strconv.Itoa(size)}},
		map[string]string{"prefix": prefix, "delimiter": delimiter, "continuation-token": after})
	r, err := b.do(ctx, call{method: http.MethodGet, query: query})
	if err != nil {
		return nil, "", err
	}
	var page s3Page
	if err := readPage(r, &page); err != nil {
		return nil, "", err
	}
	out := make([]Object, 0, len(page.Objects)+len(page.Prefixes))
	for _, o := range page.Objects {
		out = append(out, Object{Key: o.Key, Size: o.Size, Modified: o.LastModified})
	}
	for _, p := range page.Prefixes {
		out = append(out, Object{Key: p.Prefix, Dir: true})
	}
	sortByKey(out)
	return out, page.Next, nil
}

func (b *s3Bucket) Read(ctx context.Context, key string, from, n int64) (*Reader, error) {
	headers := map[string]string{}
	for name, value := range b.reads {
		headers[name] = value
	}
	if part := byteRange(from, n); part != "" {
		headers["Range"] = part
	}
	r, err := b.do(ctx, call{method: http.MethodGet, key: key, header: headers})
	if err != nil {
		return nil, err
	}
	return &Reader{r.Body, wholeSize(r.ContentLength, r.Header.Get("Content-Range")), modified(r)}, nil
}

// Write uploads data that fits into one part with one request, and other data by a multipart upload.
func (b *s3Bucket) Write(ctx context.Context, key, contentType string, data io.Reader, fresh bool) error {
	headers := map[string]string{}
	for name, value := range b.writes {
		headers[name] = value
	}
	if contentType != "" {
		headers["Content-Type"] = contentType
	}
	part, err := readPart(data)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if errors.Is(err, io.EOF) {
		if fresh {
			headers[b.fresh.name] = b.fresh.value
		}
		if b.checksums {
			headers[checksumHeader] = checksum(part)
		}
		_, _, err := b.effect(ctx, call{method: http.MethodPut, key: key, header: headers, body: part})
		return err
	}
	return b.upload(ctx, key, headers, part, data, fresh)
}

const checksumHeader = "X-Amz-Checksum-Crc32"

// checksum returns the CRC-32 of RFC 1952 in the encoding of the protocol.
func checksum(part []byte) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(part)))
}

// s3Part is a part of a multipart upload.
type s3Part struct {
	PartNumber    int
	ETag          string
	ChecksumCRC32 string `xml:",omitempty"`
}

// upload creates an object of a part and the rest of the data. If that fails, it aborts the multipart upload.
func (b *s3Bucket) upload(ctx context.Context, key string, headers map[string]string, part []byte, data io.Reader, fresh bool) (err error) {
	if b.checksums {
		headers["X-Amz-Checksum-Algorithm"] = "CRC32"
	}
	_, reply, err := b.effect(ctx, call{method: http.MethodPost, key: key, query: url.Values{"uploads": {""}}, header: headers})
	if err != nil {
		return err
	}
	var begun struct{ UploadId string }
	if err := xml.Unmarshal(reply, &begun); err != nil || begun.UploadId == "" {
		return errors.New("the server begins a multipart upload without an id")
	}
	id := url.Values{"uploadId": {begun.UploadId}}
	defer func() {
		if err != nil { // what cannot be given up either, the bucket's rules for uploads that were not completed remove
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tokenTimeout)
			defer cancel()
			b.effect(ctx, call{method: http.MethodDelete, key: key, query: id})
		}
	}()
	parts, err := sendParts(ctx, part, data, func(ctx context.Context, n int, part []byte) (s3Part, error) {
		return b.putPart(ctx, key, begun.UploadId, n, part)
	})
	if err != nil {
		return err
	}
	list, err := xml.Marshal(struct {
		XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ CompleteMultipartUpload"`
		Part    []s3Part
	}{Part: parts})
	if err != nil {
		return err
	}
	end := map[string]string{"Content-Type": "application/xml"}
	if fresh {
		end[b.fresh.name] = b.fresh.value
	}
	r, reply, err := b.effect(ctx, call{method: http.MethodPost, key: key, query: id, header: end, body: list})
	if err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(reply)) // which may be a refusal, though its status is 200 (CompleteMultipartUpload)
	var refused struct {
		XMLName xml.Name `xml:"Error"`
	}
	if xml.Unmarshal(reply, &refused) == nil {
		return refusalOf(r)
	}
	return nil
}

func (b *s3Bucket) putPart(ctx context.Context, key, upload string, n int, part []byte) (s3Part, error) {
	p := s3Part{PartNumber: n + 1}
	headers := map[string]string{}
	if b.checksums {
		p.ChecksumCRC32 = checksum(part)
		headers[checksumHeader] = p.ChecksumCRC32
	}
	query := url.Values{"partNumber": {strconv.Itoa(p.PartNumber)}, "uploadId": {upload}}
	r, _, err := b.effect(ctx, call{method: http.MethodPut, key: key, query: query, header: headers, body: part})
	if err != nil {
		return p, err
	}
	p.ETag = r.Header.Get("ETag")
	return p, nil
}

func (b *s3Bucket) Delete(ctx context.Context, key string) error {
	_, _, err := b.effect(ctx, call{method: http.MethodDelete, key: key})
	return err
}

func (b *s3Bucket) Close() error { b.client.CloseIdleConnections(); return nil }
