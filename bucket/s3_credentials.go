package bucket

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/signer"
	"gopkg.in/ini.v1"
)

// s3Signer signs requests by AWS Signature Version 4. The client renew is used to renew the credentials.
func s3Signer(c *credentials.Credentials, renew *http.Client, region string) func(q *http.Request, body []byte) (*http.Request, error) {
	return func(q *http.Request, body []byte) (*http.Request, error) {
		v, err := c.GetWithContext(&credentials.CredContext{Client: renew, Context: q.Context()})
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errNoCredential, err)
		}
		if v.AccessKeyID == "" || v.SecretAccessKey == "" {
			return nil, fmt.Errorf("%w: there is no key", errNoCredential)
		}
		sum := sha256.Sum256(body)
		q.Header.Set("X-Amz-Content-Sha256", hex.EncodeToString(sum[:]))
		return signer.SignV4(*q, v.AccessKeyID, v.SecretAccessKey, v.SessionToken, region), nil
	}
}

// awsFiles are Amazon's own files (docs.aws.amazon.com/sdkref/latest/guide/file-format.html).
type awsFiles struct{ config, credentials *ini.File }

// readAWSFiles reads the files that exist.
func readAWSFiles() (awsFiles, error) {
	home := ""
	if u, err := os.UserHomeDir(); err == nil {
		home = u
	} else if u, err := user.Current(); err == nil {
		home = u.HomeDir
	}
	read := func(variable, name string) (*ini.File, error) {
		at := cmp.Or(os.Getenv(variable), filepath.Join(home, ".aws", name))
		f, err := ini.LoadSources(ini.LoadOptions{Loose: true, SpaceBeforeInlineComment: true, AllowNestedValues: true, SkipUnrecognizableLines: true}, at)
		if err != nil {
			return nil, fmt.Errorf("reading credentials from %s: %w", at, err)
		}
		return f, nil
	}
	var f awsFiles
	var err error
	if f.config, err = read("AWS_CONFIG_FILE", "config"); err != nil {
		return f, err
	}
	f.credentials, err = read("AWS_SHARED_CREDENTIALS_FILE", "credentials")
	return f, err
}

// sections returns the sections of a profile. For a setting in several, the first one counts.
func (f awsFiles) sections(profile string) (out []*ini.Section) {
	if s, err := f.credentials.GetSection(profile); err == nil {
		out = append(out, s)
	}
	for _, name := range []string{"profile " + profile, profile} {
		if s, err := f.config.GetSection(name); err == nil && (name != profile || profile == "default") {
			return append(out, s)
		}
	}
	return out
}

func (f awsFiles) get(profile, key string) string {
	for _, s := range f.sections(profile) {
		if s.HasKey(key) {
			return strings.TrimSpace(s.Key(key).Value())
		}
	}
	return ""
}

// service returns the address that a profile has for a service, in its section services.
func (f awsFiles) service(profile, name string) string {
	s, err := f.config.GetSection("services " + f.get(profile, "services"))
	if err != nil || !s.HasKey(name) {
		return ""
	}
	for _, line := range s.Key(name).NestedValues() {
		if key, value, _ := strings.Cut(line, "="); strings.TrimSpace(key) == "endpoint_url" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// credentials looks for credentials in the same places and order as Amazon's own libraries
// (docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html). It makes no request.
func (s *s3Settings) credentials() (*credentials.Credentials, error) {
	var found credentials.Provider
	var err error
	switch {
	case s.named:
		found, err = s.ofProfile(s.profile, nil)
	case os.Getenv("AWS_ACCESS_KEY_ID") != "" && os.Getenv("AWS_SECRET_ACCESS_KEY") != "":
		found = &credentials.EnvAWS{}
	case os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != "":
		found = s.ofToken(os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE"), os.Getenv("AWS_ROLE_ARN"), os.Getenv("AWS_ROLE_SESSION_NAME"))
	default:
		found, err = s.ofProfile(s.profile, nil)
	}
	if err == nil && s.role != "" {
		found, err = s.ofRole(found, s.role, "")
	}
	if err != nil {
		return nil, err
	}
	return credentials.New(found), nil
}

// ofProfile returns the credentials of a profile in Amazon's files. used are the profiles whose roles are assumed with it.
func (s *s3Settings) ofProfile(name string, used []string) (credentials.Provider, error) {
	if len(s.files.sections(name)) == 0 {
		if name == "default" {
			return s.ofMachine(), nil
		}
		return nil, fmt.Errorf("%w: there is no profile %s in Amazon's files", errNoCredential, name)
	}
	get := func(key string) string { return s.files.get(name, key) }
	role, source := get("role_arn"), get("source_profile")
	keys := get("aws_access_key_id") != ""
	switch {
	case role != "" && get("mfa_serial") != "":
		return nil, fmt.Errorf("%w: the role of the profile %s requires a code; set AWS_PROFILE to one whose credential_process is 'aws configure export-credentials --profile %s'", errNoCredential, name, name)
	case role != "" && get("web_identity_token_file") != "":
		return s.ofToken(get("web_identity_token_file"), role, get("role_session_name")), nil
	case role != "" && source != "":
		if source == name && keys {
			return s.ofRole(&credentials.FileAWSCredentials{Profile: name}, role, name)
		}
		if slices.Contains(used, name) {
			return nil, fmt.Errorf("%w: the profile %s is its own source", errNoCredential, name)
		}
		base, err := s.ofProfile(source, append(used, name))
		if err != nil {
			return nil, err
		}
		return s.ofRole(base, role, name)
	case role != "" && get("credential_source") == "Environment":
		return s.ofRole(&credentials.EnvAWS{}, role, name)
	case role != "" && get("credential_source") != "":
		return s.ofRole(s.ofMachine(), role, name)
	case role != "":
		return nil, fmt.Errorf("%w: the profile %s has a role and no source for it", errNoCredential, name)
	case keys || get("sso_account_id") != "" || get("sso_role_name") != "":
		return &credentials.FileAWSCredentials{Profile: name}, nil
	case get("login_session") != "":
		return &awsProcess{command: []string{"aws", "configure", "export-credentials", "--format", "process", "--profile", name}}, nil
	case get("credential_process") != "":
		return &awsProcess{command: []string{"sh", "-c", get("credential_process")}}, nil
	}
	return s.ofMachine(), nil
}

// ofMachine returns the credentials that the service of the container or virtual machine provides.
func (s *s3Settings) ofMachine() credentials.Provider {
	container := os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") != "" || os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI") != ""
	disabled, _ := strconv.ParseBool(os.Getenv("AWS_EC2_METADATA_DISABLED"))
	switch {
	case container:
		return &credentials.IAM{}
	case disabled:
		return &credentials.Static{Value: credentials.Value{SignerType: credentials.SignatureAnonymous}}
	}
	return &credentials.IAM{Endpoint: os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT"), Client: &http.Client{Timeout: metadataProbe}}
}

// securityTokens returns the address of the service that issues tokens for roles.
func (s *s3Settings) securityTokens() string {
	return cmp.Or(os.Getenv("AWS_ENDPOINT_URL_STS"), os.Getenv("AWS_ENDPOINT_URL"), "https://sts."+cmp.Or(s.region, "us-east-1")+"."+awsDomain(s.region))
}

// ofToken assumes a role with a token in a file, as in pods of Kubernetes.
func (s *s3Settings) ofToken(file, role, session string) credentials.Provider {
	p := &credentials.IAM{Endpoint: s.securityTokens()}
	p.EKSIdentity.TokenFile, p.EKSIdentity.RoleARN, p.EKSIdentity.RoleSessionName = file, role, session
	return p
}

// ofRole assumes a role with other credentials. profile may be "".
func (s *s3Settings) ofRole(base credentials.Provider, role, profile string) (credentials.Provider, error) {
	if s.region == "" {
		return nil, errors.New("the role's server needs a region; set AWS_REGION")
	}
	lasts, err := strconv.Atoi(s.files.get(profile, "duration_seconds"))
	if err != nil {
		lasts = 0 // as long as the role's own rules say
	}
	return &assumedRole{credentials.New(base), credentials.STSAssumeRole{STSEndpoint: s.securityTokens(), Options: credentials.STSAssumeRoleOptions{
		Location: s.region, RoleARN: role, RoleSessionName: cmp.Or(s.files.get(profile, "role_session_name"), os.Getenv("AWS_ROLE_SESSION_NAME"), "straggler"),
		ExternalID: s.files.get(profile, "external_id"), DurationSeconds: lasts}}}, nil
}

// assumedRole provides the credentials of a role, assumed with base credentials that may expire too.
type assumedRole struct {
	base *credentials.Credentials
	sts  credentials.STSAssumeRole
}

func (r *assumedRole) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	v, err := r.base.GetWithContext(cc)
	if err != nil {
		return v, err
	}
	r.sts.Options.AccessKey, r.sts.Options.SecretKey, r.sts.Options.SessionToken = v.AccessKeyID, v.SecretAccessKey, v.SessionToken
	return r.sts.RetrieveWithCredContext(cc)
}

func (r *assumedRole) Retrieve() (credentials.Value, error) { return r.RetrieveWithCredContext(nil) }
func (r *assumedRole) IsExpired() bool                      { return r.sts.IsExpired() }

// awsProcess runs a program that prints credentials (docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html).
type awsProcess struct {
	command []string
	expires time.Time // zero for credentials that do not
}

func (p *awsProcess) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	var reply struct {
		AccessKeyId, SecretAccessKey, SessionToken string
		Expiration                                 time.Time
	}
	if err := run(cc.Context, &reply, p.command[0], p.command[1:]...); err != nil {
		return credentials.Value{}, err
	}
	p.expires = reply.Expiration
	return credentials.Value{AccessKeyID: reply.AccessKeyId, SecretAccessKey: reply.SecretAccessKey, SessionToken: reply.SessionToken,
		Expiration: reply.Expiration, SignerType: credentials.SignatureV4}, nil
}

func (p *awsProcess) Retrieve() (credentials.Value, error) { return p.RetrieveWithCredContext(nil) }

// IsExpired reports whether the credentials expire soon.
func (p *awsProcess) IsExpired() bool {
	return !p.expires.IsZero() && time.Until(p.expires) < time.Minute
}
