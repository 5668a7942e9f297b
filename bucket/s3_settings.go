package bucket

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// s3Settings are the address of a bucket and the properties of its requests. Each setting is from the parameters of the URL, else
// from the environment, else from the profile in Amazon's files (docs.aws.amazon.com/sdkref/latest/guide/settings-reference.html).
type s3Settings struct {
	files   awsFiles
	profile string
	named   bool // the URL names the profile, which then comes before keys of the environment

	region, endpoint, role            string
	anonymous, pathStyle, accelerated bool
	dualStack, fips, plain            bool
	checksums                         bool
	sse, kmsKey                       string
	tries                             int
}

// s3Tries is the number of tries of Amazon's own libraries.
const s3Tries = 3

// s3Encryptions are the valid kinds of encryption.
var s3Encryptions = []string{"AES256", "aws:kms", "aws:kms:dsse"}

// s3SettingsOf reads the parameters of a URL, which mean the same as in the Go Cloud Development Kit.
func s3SettingsOf(q url.Values) (*s3Settings, error) {
	s := &s3Settings{profile: cmp.Or(q.Get("profile"), os.Getenv("AWS_PROFILE"), os.Getenv("AWS_DEFAULT_PROFILE"), "default"), named: q.Has("profile")}
	var err error
	if s.files, err = readAWSFiles(); err != nil {
		return nil, err
	}
	of := func(key string, variables ...string) string {
		for _, name := range variables {
			if value := os.Getenv(name); value != "" {
				return value
			}
		}
		return s.files.get(s.profile, key)
	}
	s.region = of("region", "AWS_REGION", "AWS_DEFAULT_REGION")
	s.fips, _ = strconv.ParseBool(of("use_fips_endpoint", "AWS_USE_FIPS_ENDPOINT"))
	s.dualStack, _ = strconv.ParseBool(of("use_dualstack_endpoint", "AWS_USE_DUALSTACK_ENDPOINT"))
	if ignored, _ := strconv.ParseBool(of("ignore_configured_endpoint_urls", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS")); !ignored {
		s.endpoint = cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), s.files.service(s.profile, "s3"),
			s.files.get(s.profile, "endpoint_url"))
	}
	if s.tries, err = strconv.Atoi(of("max_attempts", "AWS_MAX_ATTEMPTS")); err != nil || s.tries < 1 {
		s.tries = s3Tries
	}
	if q.Has("endpoint") {
		s.endpoint = q.Get("endpoint")
	}
	if s.endpoint != "" {
		// Servers other than Amazon's have no host name per bucket and no regions, and their users rarely set either.
		s.pathStyle, s.region = true, cmp.Or(s.region, "us-east-1")
	}
	// Many do not support Amazon's checksums either; they verify the data by the signed hash.
	s.checksums = cmp.Or(of("request_checksum_calculation", "AWS_REQUEST_CHECKSUM_CALCULATION"),
		map[bool]string{true: whenRequired}[s.endpoint != ""]) != whenRequired
	for _, name := range slices.Sorted(maps.Keys(q)) {
		if err := s.set(name, q.Get(name)); err != nil {
			return nil, fmt.Errorf("the parameter %s: %w", name, err)
		}
	}
	return s, nil
}

const whenSupported, whenRequired = "when_supported", "when_required"

func (s *s3Settings) set(name, value string) error {
	yes, notBool := strconv.ParseBool(value)
	switch name {
	case "region":
		s.region = value
		return nil
	case "profile", "endpoint": // read already
		return nil
	case "role":
		if s.role = value; !strings.HasPrefix(value, "arn:") {
			return errors.New("it names an IAM role, as arn:…")
		}
		return nil
	case "ssetype":
		for _, known := range s3Encryptions {
			if strings.EqualFold(known, value) {
				s.sse = known
				return nil
			}
		}
		return fmt.Errorf("it is one of %v", s3Encryptions)
	case "kmskeyid":
		s.kmsKey = value
		return nil
	case "request_checksum_calculation":
		if s.checksums = value == whenSupported; !s.checksums && value != whenRequired {
			return errors.New("it is when_supported or when_required")
		}
		return nil
	case "response_checksum_validation":
		if value != whenRequired {
			return errors.New("only when_required is supported: straggler compares what it wrote with checksums of its own")
		}
		return nil
	case "awssdk": // the version of a library that is not used here
		return nil
	case "anonymous":
		s.anonymous = yes
	case "dualstack":
		s.dualStack = yes
	case "fips":
		s.fips = yes
	case "use_path_style", "s3ForcePathStyle":
		s.pathStyle = yes
	case "hostname_immutable":
		s.pathStyle = s.pathStyle || yes
	case "accelerate":
		s.accelerated = yes
	case "disable_https":
		s.plain = yes
	default:
		return errors.New("there is none of this name")
	}
	return notBool
}

// awsDomains are the domains of Amazon's partitions, by the prefix of the names of their regions
// (docs.aws.amazon.com/whitepapers/latest/aws-fault-isolation-boundaries/partitions.html).
var awsDomains = []struct{ region, domain string }{
	{"cn-", "amazonaws.com.cn"}, {"us-iso-", "c2s.ic.gov"}, {"us-isob-", "sc2s.sgov.gov"}, {"us-isof-", "csp.hci.ic.gov"},
	{"eu-isoe-", "cloud.adc-e.uk"}, {"eusc-", "amazonaws.eu"}, {"", "amazonaws.com"},
}

func awsDomain(region string) string {
	i := slices.IndexFunc(awsDomains, func(d struct{ region, domain string }) bool { return strings.HasPrefix(region, d.region) })
	return awsDomains[i].domain
}

// hostLabel matches the names of buckets that can be the first label of a host name under a wildcard certificate.
var hostLabel = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`)

// directoryBucket is the suffix of the names of S3 Express buckets, which require sessions and are not supported.
const directoryBucket = "--x-s3"

// bucketURL returns the URL of a bucket (docs.aws.amazon.com/general/latest/gr/s3.html).
func (s *s3Settings) bucketURL(bucket string) (string, error) {
	at := &url.URL{Scheme: "https"}
	if s.plain {
		at.Scheme = "http"
	}
	switch {
	case s.endpoint != "":
		given, err := url.Parse(s.endpoint)
		if err != nil || given.Host == "" || given.Scheme != "http" && given.Scheme != "https" {
			return "", errors.New("its endpoint is an address such as http://HOST:PORT")
		}
		at = &url.URL{Scheme: given.Scheme, Host: given.Host, Path: strings.TrimSuffix(given.Path, "/")}
	case strings.HasSuffix(bucket, directoryBucket):
		return "", errors.New("directory buckets of S3 Express are not supported")
	case s.region == "":
		return "", errors.New("its region is not known; set AWS_REGION, or append ?region=REGION")
	case s.accelerated:
		at.Host = "s3-accelerate." + map[bool]string{true: "dualstack."}[s.dualStack] + awsDomain(s.region)
	default:
		at.Host = "s3" + map[bool]string{true: "-fips"}[s.fips] + "." + map[bool]string{true: "dualstack."}[s.dualStack] + s.region + "." + awsDomain(s.region)
	}
	if s.pathStyle || !hostLabel.MatchString(bucket) {
		return at.JoinPath(bucket).String(), nil
	}
	at.Host = bucket + "." + at.Host
	return at.String() + "/", nil
}

// encryption returns the encryption headers of an upload.
func (s *s3Settings) encryption() map[string]string {
	out := map[string]string{}
	if s.sse != "" {
		out["X-Amz-Server-Side-Encryption"] = s.sse
	}
	if s.kmsKey != "" {
		out["X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id"] = s.kmsKey
	}
	return out
}

// s3Transport returns a transport that trusts the certificate authorities in AWS_CA_BUNDLE, if that is set.
func s3Transport() (*http.Transport, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	transport.DisableCompression = true // or what is stored as gzip comes without it, and in another length
	if name := os.Getenv("AWS_CA_BUNDLE"); name != "" {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("AWS_CA_BUNDLE: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(data) {
			return nil, fmt.Errorf("AWS_CA_BUNDLE: %s has no certificate in PEM", name)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	return transport, nil
}
