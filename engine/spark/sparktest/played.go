package sparktest

import (
	"net"
	"testing"
)

// Play starts a server on loopback that treats every connection in the same way, for what real servers cannot be made to do,
// and returns its address.
func Play(t testing.TB, do func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				do(conn)
			}()
		}
	}()
	return l.Addr().String()
}
