package hs2

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/beltran/gohive/hiveserver"

	"straggler/engine/spark/sparktest"
)

// What a real server cannot be made to do is played by others here; the rest is tried on real servers, by the tests of
// package store.

// silent reads and never answers.
func silent(conn net.Conn) {
	buf := make([]byte, 1024)
	for {
		if _, err := conn.Read(buf); err != nil {
			return
		}
	}
}

func answers(text string) func(net.Conn) {
	return func(conn net.Conn) {
		conn.Read(make([]byte, 1024))
		conn.Write([]byte(text))
		silent(conn)
	}
}

func TestOpenRefused(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for _, c := range []struct {
		name, address string
		sasl          bool
		kind          error
		says          string
		wait          time.Duration // 0: long enough for any machine
	}{
		{"nobody", closed.Addr().String(), true, ErrUnreachable, "is the Thrift Server (or Kyuubi) running there?", 0},
		{"silent at the log-in", sparktest.Play(t, silent), true, ErrUnreachable, "does not take the log-in", 2 * time.Second},
		{"silent afterwards", sparktest.Play(t, silent), false, ErrFrozen, "has said nothing for 100ms", 100 * time.Millisecond},
		{"hangs up", sparktest.Play(t, func(net.Conn) {}), false, ErrLost, "", 0},
		{"another protocol", sparktest.Play(t, answers("HTTP/1.1 400 Bad Request\r\n\r\n")), true, ErrUnreachable, `its answer begins with "HTTP/"`, 0},
		{"another protocol, no log-in", sparktest.Play(t,
			func(conn net.Conn) { conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) }), false, ErrLost, "", 0},
		{"wrong password", sparktest.Play(t, answers("\x03\x00\x00\x00\x18Error validating the login")), true, ErrDenied,
			`user "me" or the password is wrong: Error validating the lo`, 0},
		{"wants more", sparktest.Play(t, answers("\x02\x00\x00\x00\x01x")), true, ErrDenied, "Kerberos is not supported", 0},
		{"endless answer", sparktest.Play(t, answers("\x03\x7f\xff\xff\xff")), true, ErrUnreachable, "its answer begins with", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.wait == 0 {
				c.wait = time.Minute
			}
			_, err := Open(t.Context(), Options{Address: c.address, User: "me", Password: "hunter2", SASL: c.sasl,
				Connect: max(c.wait, 2*time.Second), SilentFor: c.wait})
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%v, want the kind %v and %q", err, c.kind, c.says)
			}
		})
	}
}

// old is a server that answers as one of long ago.
type old struct {
	hiveserver.TCLIService
	version hiveserver.TProtocolVersion
	status  hiveserver.TStatusCode
}

func (o *old) OpenSession(context.Context, *hiveserver.TOpenSessionReq) (*hiveserver.TOpenSessionResp, error) {
	message := "no more sessions"
	return &hiveserver.TOpenSessionResp{Status: &hiveserver.TStatus{StatusCode: o.status, ErrorMessage: &message}, ServerProtocolVersion: o.version}, nil
}

func TestOpenOldOrFull(t *testing.T) {
	for _, c := range []struct {
		server old
		kind   error
		says   string
	}{
		{old{version: hiveserver.TProtocolVersion_HIVE_CLI_SERVICE_PROTOCOL_V5}, ErrOld, "HIVE_CLI_SERVICE_PROTOCOL_V5"},
		{old{version: protocol, status: hiveserver.TStatusCode_ERROR_STATUS}, ErrDenied, "no more sessions"},
		{old{version: protocol}, ErrDenied, "it gives no session"},
	} {
		address := sparktest.Play(t, func(conn net.Conn) {
			p := thrift.NewTBinaryProtocolConf(thrift.NewTBufferedTransport(thrift.NewTSocketFromConnConf(conn, nil), 4096), nil)
			hiveserver.NewTCLIServiceProcessor(&c.server).Process(context.Background(), p, p)
		})
		_, err := Open(t.Context(), Options{Address: address, User: "me"})
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want the kind %v and %q", err, c.kind, c.says)
		}
	}
}

func TestOpenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	address := sparktest.Play(t, func(conn net.Conn) {
		conn.Read(make([]byte, 1)) // the request is on its way
		cancel()
		silent(conn)
	})
	for _, sasl := range []bool{true, false} {
		if _, err := Open(ctx, Options{Address: address, User: "me", SASL: sasl, Connect: 3 * time.Second}); !errors.Is(err, context.Canceled) {
			t.Errorf("SASL %v: %v", sasl, err)
		}
	}
}

// What servers say is cut to what helps.
func TestBrief(t *testing.T) {
	for _, c := range []struct{ text, code, want string }{
		{"Error running query: [DIVIDE_BY_ZERO] org.apache.spark.SparkArithmeticException: [DIVIDE_BY_ZERO] Division by zero.\n== SQL ==\nSELECT 1/0\n\tat org.apache.spark.X", "DIVIDE_BY_ZERO", "[DIVIDE_BY_ZERO] Division by zero."},
		{"[PARSE_SYNTAX_ERROR] Syntax error at or near 'x'.(line 1, pos 3)\n\n== SQL ==\nx", "PARSE_SYNTAX_ERROR",
			"[PARSE_SYNTAX_ERROR] Syntax error at or near 'x'.(line 1, pos 3)"},
		{"org.apache.hive.service.cli.HiveSQLException: Error running query: java.lang.RuntimeException: it broke\n\tat a.b.C", "", "it broke"},
		{"[A_B.C_D] org.x.Y: [A_B.C_D] nested; line 1 pos 2;\n'Project [1]", "A_B.C_D", "[A_B.C_D] nested; line 1 pos 2"},
		{"", "", "the server does not say why"},
	} {
		e := newStatementError(c.text).(*StatementError)
		if e.Error() != c.want || e.Code != c.code {
			t.Errorf("%q becomes %q with the code %q, want %q with %q", c.text, e.Error(), e.Code, c.want, c.code)
		}
	}
}
