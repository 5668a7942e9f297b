package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/user"
	"strings"
	"sync"
	"time"

	"github.com/colinmarc/hdfs/v2"
	"github.com/colinmarc/hdfs/v2/hadoopconf"
	krb "github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"

	objects "straggler/bucket"
	"straggler/ingest"
	"straggler/ingest/discover"
)

// defaultPort is the default port of name nodes before Hadoop 3.0 and since 3.0.1.
const defaultPort = "8020"

// fileSystem is an HDFS. Its library does not support contexts: to cancel a call, its connections are closed.
type fileSystem struct {
	client *hdfs.Client
	l      location
	stall  time.Duration

	mu    sync.Mutex
	conns map[net.Conn]bool
}

func openHDFS(ctx context.Context, l location, o Options) (*fileSystem, error) {
	f := &fileSystem{l: l, stall: o.Stall, conns: make(map[net.Conn]bool)}
	options, err := f.options()
	if err != nil {
		return nil, err
	}
	defer f.within(ctx)()
	if f.client, err = hdfs.NewClient(options); err != nil {
		return nil, f.failed(ctx, err)
	}
	return f, nil
}

// options come from the URL, and from Hadoop's configuration files if there are any.
func (f *fileSystem) options() (hdfs.ClientOptions, error) {
	conf, err := hadoopconf.LoadFromEnvironment()
	if err != nil {
		return hdfs.ClientOptions{}, &fault{ingest.ErrUse, "the files under HADOOP_CONF_DIR cannot be read: " + objects.Clean(err.Error())}
	}
	o := hdfs.ClientOptionsFromConf(conf)
	if o.Addresses, err = addressesOf(f.l.Host, conf); err != nil {
		return o, err
	}
	o.NamenodeDialFunc, o.DatanodeDialFunc = f.dial, f.dial
	if o.KerberosClient != nil {
		if o.KerberosClient, err = ticket(); err != nil {
			return o, &fault{fs.ErrPermission, "Kerberos: " + objects.Clean(err.Error()) + "; " + adviceHDFS.Credentials}
		}
		return o, nil
	}
	if o.User = os.Getenv("HADOOP_USER_NAME"); o.User == "" {
		if u, err := user.Current(); err == nil {
			o.User = u.Username
		}
	}
	return o, nil
}

// addressesOf returns the name nodes of a URL: its host and port, the nodes of the name service that it names, or the default
// in Hadoop's configuration.
func addressesOf(host string, conf hadoopconf.HadoopConf) ([]string, error) {
	if host == "" || conf["dfs.ha.namenodes."+host] != "" {
		if nodes := conf.Namenodes(); len(nodes) > 0 {
			return nodes, nil
		}
		return nil, &fault{ingest.ErrUse, "the URL names no name node; " + adviceHDFS.Address}
	}
	if _, _, err := net.SplitHostPort(host); err == nil {
		return []string{host}, nil
	}
	if strings.Contains(strings.Trim(host, "[]"), ":") && !strings.HasPrefix(host, "[") {
		return nil, &fault{ingest.ErrUse, "the name node's port cannot be read; " + adviceHDFS.Address}
	}
	return []string{net.JoinHostPort(strings.Trim(host, "[]"), defaultPort)}, nil
}

// ticket returns the Kerberos ticket obtained by kinit.
func ticket() (*krb.Client, error) {
	name := os.Getenv("KRB5_CONFIG")
	if name == "" {
		name = "/etc/krb5.conf"
	}
	cfg, err := config.Load(name)
	if err != nil {
		return nil, err
	}
	cache, err := cachePath()
	if err != nil {
		return nil, err
	}
	tickets, err := credentials.LoadCCache(cache)
	if err != nil {
		return nil, err
	}
	return krb.NewFromCCache(tickets, cfg)
}

func cachePath() (string, error) {
	name := os.Getenv("KRB5CCNAME")
	kind, rest, ok := strings.Cut(name, ":")
	switch {
	case name == "":
		return fmt.Sprintf("/tmp/krb5cc_%d", os.Getuid()), nil
	case !ok:
		return name, nil
	case kind == "FILE":
		return rest, nil
	}
	return "", errors.New("only a ticket cache that is a file can be read: set KRB5CCNAME to FILE:PATH")
}

// dial makes connections with deadlines.
func (f *fileSystem) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: min(f.stall, 20*time.Second)}
	c, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	w := &deadlineConn{Conn: c, f: f}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conns[w] = true
	return w, nil
}

// deadlineConn is a connection with a deadline for each read and write.
type deadlineConn struct {
	net.Conn
	f *fileSystem
}

func (c *deadlineConn) Read(p []byte) (int, error) {
	c.SetReadDeadline(time.Now().Add(c.f.stall))
	return c.Conn.Read(p)
}

func (c *deadlineConn) Write(p []byte) (int, error) {
	c.SetWriteDeadline(time.Now().Add(c.f.stall))
	return c.Conn.Write(p)
}

func (c *deadlineConn) Close() error {
	c.f.mu.Lock()
	delete(c.f.conns, c)
	c.f.mu.Unlock()
	return c.Conn.Close()
}

// within closes connections when the context ends, until off is called.
func (f *fileSystem) within(ctx context.Context) (off func()) {
	stop := context.AfterFunc(ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		for c := range f.conns {
			c.(*deadlineConn).Conn.Close()
		}
	})
	return func() { stop() }
}

func (f *fileSystem) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return f.fault(err)
}

func (f *fileSystem) fault(err error) error {
	var remote hdfs.Error
	if errors.As(err, &remote) { // its text is a Java stack trace
		first, _, _ := strings.Cut(remote.Message(), "\n")
		return &fault{discover.ErrSource, "the name node says: " + objects.Clean(first)}
	}
	return explain(f.l, err)
}

func (f *fileSystem) close() error {
	if err := f.client.Close(); err != nil {
		return fmt.Errorf("hdfs: %s", objects.Clean(err.Error()))
	}
	return nil
}

func (f *fileSystem) stat(ctx context.Context, p string, dir bool) (discover.TreeEntry, error) {
	defer f.within(ctx)()
	info, err := f.client.Stat("/" + p)
	if err != nil {
		return discover.TreeEntry{}, f.failed(ctx, err)
	}
	if dir && !info.IsDir() {
		return discover.TreeEntry{}, &fault{fs.ErrNotExist, "it is a file; name it without a slash at its end"}
	}
	return treeEntry(p, info), nil
}

func treeEntry(p string, info fs.FileInfo) discover.TreeEntry {
	return discover.TreeEntry{Path: p, Dir: info.IsDir(), Size: info.Size(), Modified: info.ModTime()}
}

func (f *fileSystem) list(ctx context.Context, dir string) ([]discover.TreeEntry, error) {
	defer f.within(ctx)()
	infos, err := f.client.ReadDir("/" + dir)
	if err != nil {
		return nil, f.failed(ctx, err)
	}
	out := make([]discover.TreeEntry, 0, len(infos))
	for _, info := range infos {
		out = append(out, treeEntry(strings.TrimPrefix(dir+"/"+info.Name(), "/"), info))
	}
	return out, nil
}

// read opens a range of the listed file. A log that is still being written may have grown: what was listed is read.
func (f *fileSystem) read(ctx context.Context, e discover.TreeEntry, from, n int64) (io.ReadCloser, time.Time, error) {
	defer f.within(ctx)()
	r, err := f.client.Open("/" + e.Path)
	if err != nil {
		return nil, time.Time{}, err
	}
	if r.Stat().Size() < e.Size {
		r.Close()
		return nil, time.Time{}, objects.Replaced
	}
	if _, err := r.Seek(from, io.SeekStart); err != nil {
		r.Close()
		return nil, time.Time{}, err
	}
	return &hdfsReader{FileReader: r, f: f, ctx: ctx}, e.Modified, nil
}

type hdfsReader struct {
	*hdfs.FileReader
	f   *fileSystem
	ctx context.Context
}

func (r *hdfsReader) Read(p []byte) (int, error) {
	defer r.f.within(r.ctx)()
	return r.FileReader.Read(p)
}
