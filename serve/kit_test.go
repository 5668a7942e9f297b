package serve_test

import (
	"context"
	"net"
	"net/netip"
	"testing"

	"straggler/report/reporttest"
)

func proxies(addresses ...string) []netip.Addr {
	var out []netip.Addr
	for _, a := range addresses {
		out = append(out, netip.MustParseAddr(a))
	}
	return out
}

func contextOf(t testing.TB) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return ctx, cancel
}

func listener(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	reporttest.Check(t, err)
	return l
}
