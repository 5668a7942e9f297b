package spark

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"straggler/engine"
	"straggler/engine/spark/hs2"
	"straggler/spelling"
)

// passwordVariable is the variable with the password of a Spark server whose address names no file.
const passwordVariable = "STRAGGLER_SPARK_PASSWORD"

// server is a parsed address: spark://[USER@]HOST[:PORT][?OPTION=VALUE&…].
type server struct {
	hs2.Options
	storeURL string            // where the cluster has the store; "" where we have it
	binary   string            // where the cluster's machines have this program; "" where we have it
	results  string            // by whom they are written
	wait     time.Duration     // for a server that went away to come back
	set      map[string]string // settings of the session
}

// Who writes results.
const (
	resultsExecutors = "executors" // into the store
	resultsServer    = "server"    // hands them over, and they are written from here
)

// settingName matches the names of settings.
var settingName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// addressOptions are the options of an address.
var addressOptions = []string{"auth", "binary", "connect", "password-file", "patience", "reconnect", "results", "set.NAME", "store",
	"tls", "tls-ca", "tls-name"}

// parseAddress reads an address. The password comes from a file or the environment, never from the address, which is visible in
// the list of processes and in the shell's history.
func parseAddress(address string) (*server, error) {
	u, err := url.Parse(address)
	if err != nil {
		// err would show a password
		return nil, fmt.Errorf("%w: the address of the server cannot be read; write spark://USER@HOST:PORT", engine.ErrUnknown)
	}
	bad := func(format string, args ...any) (*server, error) {
		return nil, fmt.Errorf("%w: spark://%s: %s", engine.ErrUnknown, u.Host, fmt.Sprintf(format, args...))
	}
	if u.Scheme != "spark" || u.Hostname() == "" || u.Path != "" && u.Path != "/" {
		return bad("write duckdb, or spark://USER@HOST:PORT of a Spark Thrift Server or Kyuubi")
	}
	if _, has := u.User.Password(); has {
		return bad("a password in an address is seen by others: put it into %s, or into a file and add ?password-file=FILE", passwordVariable)
	}
	s := &server{set: make(map[string]string), wait: 2 * time.Minute, results: resultsExecutors}
	s.Address = u.Host
	if u.Port() == "" {
		s.Address = net.JoinHostPort(u.Hostname(), "10000")
	}
	if s.User = u.User.Username(); s.User == "" {
		s.User = "straggler"
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return bad("what follows the ? cannot be read: %v", err)
	}
	keys := make([]string, 0, len(query))
	for key, values := range query {
		if len(values) != 1 {
			return bad("%s is given %d times", key, len(values))
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if err := s.option(key, query.Get(key)); err != nil {
			return bad("%v", err)
		}
	}
	if !query.Has("password-file") {
		s.Password = os.Getenv(passwordVariable)
	}
	if !query.Has("auth") {
		s.SASL = true
	}
	if s.TLS == nil && (query.Has("tls-ca") || query.Has("tls-name")) {
		return bad("tls-ca and tls-name need tls=true")
	}
	return s, s.trust(query)
}

func (s *server) option(key, value string) (err error) {
	switch key {
	case "auth":
		switch strings.ToLower(value) {
		case "nosasl":
		case "none", "ldap", "custom":
			s.SASL = true
		default:
			return fmt.Errorf("auth=%s: it is one of none, ldap, custom, nosasl, as hive.server2.authentication of the server", value)
		}
	case "tls":
		on, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("tls=%s: write tls=true or tls=false", value)
		}
		if on {
			s.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		}
	case "tls-ca", "tls-name": // later: they are about what tls makes
	case "password-file":
		text, err := os.ReadFile(value)
		if err != nil {
			return fmt.Errorf("the password: %w", err)
		}
		s.Password = strings.TrimRight(string(text), "\r\n")
	case "connect":
		s.Connect, err = positive(key, value)
	case "patience":
		s.SilentFor, err = positive(key, value)
	case "reconnect":
		s.wait, err = positive(key, value)
	case "store":
		s.storeURL = strings.TrimRight(value, "/")
	case "results":
		if s.results = value; value != resultsExecutors && value != resultsServer {
			return fmt.Errorf("results=%s: it is %s, which write them into the store, or %s, through which they come here", value,
				resultsExecutors, resultsServer)
		}
	case "binary":
		s.binary = value
	default:
		name, ok := strings.CutPrefix(key, "set.")
		if !ok || !settingName.MatchString(name) || strings.ContainsAny(value, ";\n\x00") {
			return fmt.Errorf("%s is not an option; %s", key, spelling.Choices(key, addressOptions))
		}
		s.set[name] = value
	}
	return err
}

func positive(key, value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%s=%s: write a time such as 30s or 5m", key, value)
	}
	return d, nil
}

// trust sets the certificates to trust besides the system's.
func (s *server) trust(query url.Values) error {
	if s.TLS == nil {
		return nil
	}
	s.TLS.ServerName = query.Get("tls-name")
	file := query.Get("tls-ca")
	if file == "" {
		return nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("%w: tls-ca: %w", engine.ErrUnknown, err)
	}
	s.TLS.RootCAs = x509.NewCertPool()
	if !s.TLS.RootCAs.AppendCertsFromPEM(pem) {
		return fmt.Errorf("%w: tls-ca: %s has no certificate in PEM", engine.ErrUnknown, file)
	}
	return nil
}
