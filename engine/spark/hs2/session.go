package hs2

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/beltran/gohive/hiveserver"
)

// Options are the address of the server, the credentials, and timeouts.
type Options struct {
	Address        string // host:port
	User, Password string
	SASL           bool          // the server has authentication NONE, LDAP or CUSTOM, not NOSASL
	TLS            *tls.Config   // nil: in the clear
	Connect        time.Duration // to connect, log in, and answer on the control connection; 0: 10 s
	SilentFor      time.Duration // of silence, after which it is looked whether the server is frozen; 0: 60 s
	FetchRows      int64         // rows a request; 0: 10 000

	Settings map[string]string // that the session begins with; a server may ignore them
}

// maxMessage is the largest accepted answer.
const maxMessage = 256 << 20

// protocol is the version of the protocol; older servers send results row by row.
const protocol = hiveserver.TProtocolVersion_HIVE_CLI_SERVICE_PROTOCOL_V6

// Session is a session on the server: temporary views live in it. It is safe for concurrent use; requests wait for
// each other.
type Session struct {
	o      Options
	handle *hiveserver.TSessionHandle

	mu   sync.Mutex // held over a request
	conn *connection
	lost error // why the connection cannot be used any more
}

// connection is a connection to the server.
type connection struct {
	net    net.Conn
	client *hiveserver.TCLIServiceClient
}

// Open opens a session.
func Open(ctx context.Context, o Options) (*Session, error) {
	if o.Connect <= 0 {
		o.Connect = 10 * time.Second
	}
	if o.SilentFor <= 0 {
		o.SilentFor = time.Minute
	}
	if o.FetchRows <= 0 {
		o.FetchRows = 10_000
	}
	s := &Session{o: o}
	var err error
	if s.conn, err = o.connect(ctx, 0); err != nil {
		return nil, err
	}
	req := hiveserver.NewTOpenSessionReq()
	req.ClientProtocol = protocol
	req.Username, req.Password = &o.User, &o.Password
	req.Configuration = make(map[string]string, len(o.Settings))
	for name, value := range o.Settings {
		req.Configuration["set:hiveconf:"+name] = value // as Hive's JDBC driver sends what follows the ? of its URL
	}
	var answer *hiveserver.TOpenSessionResp
	err = s.request(ctx, nil, func(c *hiveserver.TCLIServiceClient) (err error) {
		answer, err = c.OpenSession(ctx, req)
		return err
	})
	if err == nil {
		err = o.admitted(answer)
	}
	if err != nil {
		s.conn.net.Close()
		return nil, err
	}
	s.handle = answer.SessionHandle
	return s, nil
}

// admitted returns an error if the server did not return a usable session.
func (o *Options) admitted(answer *hiveserver.TOpenSessionResp) error {
	if err := statusError(answer.GetStatus()); err != nil {
		return fmt.Errorf("%w at %s: %w", ErrDenied, o.Address, err)
	}
	if answer.ServerProtocolVersion < protocol {
		return fmt.Errorf("%w: %s supports %v of the protocol, and %v or newer is needed", ErrOld, o.Address, answer.ServerProtocolVersion, protocol)
	}
	if answer.SessionHandle == nil {
		return fmt.Errorf("%w at %s: it gives no session", ErrDenied, o.Address)
	}
	return nil
}

// connect opens a connection. Every answer on it must arrive within silence, if given.
func (o *Options) connect(ctx context.Context, silence time.Duration) (*connection, error) {
	dialing, cancel := context.WithTimeout(ctx, o.Connect)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(dialing, "tcp", o.Address)
	if err != nil {
		return nil, o.unreachable(ctx, err)
	}
	stop := context.AfterFunc(dialing, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if conn, err = o.secure(dialing, conn); err == nil && o.SASL {
		err = logIn(conn, o)
	}
	if err != nil {
		conn.Close()
		if ctx.Err() != nil {
			return nil, fmt.Errorf("spark: %w", ctx.Err())
		}
		return nil, err
	}
	if !stop() {
		conn.Close()
		return nil, o.unreachable(ctx, dialing.Err())
	}
	conf := &thrift.TConfiguration{MaxMessageSize: maxMessage, MaxFrameSize: maxMessage, SocketTimeout: silence}
	var transport thrift.TTransport = thrift.NewTSocketFromConnConf(conn, conf)
	if o.SASL { // after the log-in, messages come with their length before them
		transport = thrift.NewTFramedTransportConf(transport, conf)
	} else {
		transport = thrift.NewTBufferedTransport(transport, 64<<10)
	}
	p := thrift.NewTBinaryProtocolConf(transport, conf)
	return &connection{conn, hiveserver.NewTCLIServiceClient(thrift.NewTStandardClient(p, p))}, nil
}

// secure adds TLS to a connection if requested.
func (o *Options) secure(ctx context.Context, conn net.Conn) (net.Conn, error) {
	if o.TLS == nil {
		return conn, nil
	}
	config := o.TLS.Clone()
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(o.Address)
	}
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		return conn, fmt.Errorf("%w at %s: TLS: %w", ErrUnreachable, o.Address, err)
	}
	return secured, nil
}

// Close ends the session, with everything that still runs in it.
func (s *Session) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.o.Connect)
	defer cancel()
	req := hiveserver.NewTCloseSessionReq()
	req.SessionHandle = s.handle
	err := s.request(ctx, nil, func(c *hiveserver.TCLIServiceClient) error {
		_, err := c.CloseSession(ctx, req)
		return err
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost != nil { // the server ends the session of a connection that is gone
		return nil
	}
	s.lost = fmt.Errorf("%w: the session is closed", ErrLost)
	s.conn.net.Close()
	return err
}
