package hs2

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
)

// Thrift's SASL messages: a status byte, the length of the body, the body.
const (
	saslStart    = 1
	saslOK       = 2
	saslBad      = 3
	saslError    = 4
	saslComplete = 5
)

const maxSASL = 1 << 20

// logIn authenticates with SASL's PLAIN mechanism (RFC 4616), which HiveServer2 uses for NONE, LDAP and CUSTOM. With NONE the
// password is ignored but must be present.
func logIn(conn net.Conn, o *Options) error {
	password := o.Password
	if password == "" {
		password = "x"
	}
	if strings.ContainsRune(o.User+password, 0) {
		return fmt.Errorf("%w: a user or password with a zero byte", ErrDenied)
	}
	message := append(saslMessage(saslStart, "PLAIN"), saslMessage(saslOK, "\x00"+o.User+"\x00"+password)...)
	if _, err := conn.Write(message); err != nil {
		return o.notSASL(err)
	}
	var head [5]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return o.notSASL(err)
	}
	n := binary.BigEndian.Uint32(head[1:])
	if head[0] < saslStart || head[0] > saslComplete || n > maxSASL {
		return o.notSASL(fmt.Errorf("its answer begins with %q", head[:]))
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(conn, body); err != nil {
		return o.notSASL(err)
	}
	switch head[0] {
	case saslComplete:
		return nil
	case saslBad, saslError:
		return fmt.Errorf("%w at %s: user %q or the password is wrong: %s", ErrDenied, o.Address, o.User, firstLine(string(body)))
	}
	return fmt.Errorf("%w at %s: it requires more than a user and a password (Kerberos is not supported)", ErrDenied, o.Address)
}

func saslMessage(status byte, body string) []byte {
	m := make([]byte, 5, 5+len(body))
	m[0] = status
	binary.BigEndian.PutUint32(m[1:], uint32(len(body)))
	return append(m, body...)
}

func (o *Options) notSASL(err error) error {
	return fmt.Errorf("%w at %s: it does not take the log-in (%w); is its hive.server2.authentication NOSASL, or does it require TLS?",
		ErrUnreachable, o.Address, err)
}
