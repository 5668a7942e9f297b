package spark

import (
	"encoding/pem"
	"errors"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"straggler/engine"
	"straggler/engine/spark/hs2"
	"straggler/engine/spark/sparktest"
)

// A real server with TLS that checks passwords in an LDAP directory, which is simulated.
func TestSparkLogin(t *testing.T) {
	dir := t.TempDir()
	keys, ca := filepath.Join(dir, "keys.p12"), filepath.Join(dir, "ca.pem")
	sparktest.Home(t)
	for _, args := range [][]string{
		{"-genkeypair", "-alias", "s", "-keyalg", "EC", "-groupname", "secp256r1", "-dname", "CN=localhost", "-ext", "SAN=ip:127.0.0.1", "-validity", "10"},
		{"-exportcert", "-alias", "s", "-rfc", "-file", ca},
	} {
		if out, err := exec.Command("keytool", append(args, "-keystore", keys, "-storetype", "PKCS12", "-storepass", "changeit")...).CombinedOutput(); err != nil {
			t.Fatalf("keytool: %v\n%s", err, out)
		}
	}
	server := sparktest.Start(t, sparktest.Options{Auth: "LDAP", Set: map[string]string{
		"hive.server2.authentication.ldap.url": "ldap://" + ldapDirectory(t, "s3cret"), "hive.server2.use.SSL": "true",
		"hive.server2.keystore.path": keys, "hive.server2.keystore.password": "changeit", "spark.sql.ansi.enabled": "true",
	}})
	st := storeAt(t, "lake")
	put(t, st, 10)
	ask := func(options string) error {
		eng, err := Open(t.Context(), st, engine.Options{Server: server.Engine(options)})
		if err != nil {
			return err
		}
		defer eng.Close()
		if got := oneRow(t, eng, "SELECT count(*) FROM attempts"); got[0] != int64(10) {
			t.Errorf("%s: %v attempts", options, got)
		}
		return nil
	}
	secure := "auth=ldap&tls=true&tls-ca=" + ca
	t.Setenv(passwordVariable, "s3cret")
	if err := ask(secure); err != nil {
		t.Errorf("with the password of the environment: %v", err)
	}
	t.Setenv(passwordVariable, "hunter2")
	if err := ask(secure); !errors.Is(err, hs2.ErrDenied) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("with a wrong password: %v", err)
	}
	file := filepath.Join(dir, "password")
	if err := os.WriteFile(file, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ask(secure + "&password-file=" + file); err != nil {
		t.Errorf("with the password of a file: %v", err)
	}
	other := httptest.NewTLSServer(nil)
	defer other.Close()
	strange := filepath.Join(dir, "strange.pem")
	if err := os.WriteFile(strange, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: other.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, options := range []string{"auth=ldap&tls=true&tls-ca=" + strange, secure + "&tls-name=other.example"} {
		if err := ask(options); !errors.Is(err, hs2.ErrUnreachable) || !strings.Contains(err.Error(), "TLS: ") {
			t.Errorf("%s: %v", options, err)
		}
	}
	for _, options := range []string{"auth=ldap&connect=2s", "auth=nosasl&connect=2s&patience=2s"} { // without encryption
		if err := ask(options); !errors.Is(err, engine.ErrServer) {
			t.Errorf("%s: %v", options, err)
		}
	}
}

// ldapDirectory simulates an LDAP directory with one password, and returns its address. It answers every message with a bind
// response (RFC 4511 §4.2.2): success, or invalidCredentials.
func ldapDirectory(t *testing.T, password string) string {
	t.Helper()
	return sparktest.Play(t, func(conn net.Conn) {
		buf := make([]byte, 4096)
		for {
			n, err := conn.Read(buf)
			if err != nil || n < 8 {
				return
			}
			code := byte(49)
			if strings.Contains(string(buf[:n]), password) {
				code = 0
			}
			// SEQUENCE { messageID, [APPLICATION 1] { ENUMERATED code, "", "" } }; the request's messageID is its fifth byte
			conn.Write([]byte{0x30, 0x0c, 0x02, 0x01, buf[4], 0x61, 0x07, 0x0a, 0x01, code, 0x04, 0x00, 0x04, 0x00})
		}
	})
}
