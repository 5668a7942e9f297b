package remote

import (
	"errors"
	"fmt"

	objects "straggler/bucket"
	urls "straggler/bucket/location"
	"straggler/ingest"
	"straggler/ingest/discover"
)

// fault is an error for users, of a kind of package ingest or fs. It contains no secrets.
type fault struct {
	kind error
	text string
}

func (f *fault) Error() string { return f.text }
func (f *fault) Unwrap() error { return f.kind }

// errChanged is returned when a file is no longer the one that was listed.
var errChanged = fmt.Errorf("%w: the file was replaced while it was read", discover.ErrSource)

var adviceHDFS = urls.Hints{
	Credentials: "set HADOOP_USER_NAME; with Kerberos, HADOOP_CONF_DIR and KRB5_CONFIG, and get a ticket with kinit",
	Address:     "write the URL as hdfs://NAMENODE:PORT/PATH, or set HADOOP_CONF_DIR to where core-site.xml is",
}

// explain converts an error of a library, at a location, to a fault.
func explain(l location, err error) error {
	var f *fault
	if errors.As(err, &f) {
		return f
	}
	hints := l.Hints()
	if l.Scheme == "hdfs" {
		hints = adviceHDFS
	}
	found := objects.Explain(err, l.Host, hints)
	switch found.Kind {
	case objects.ErrBroken:
		return &fault{discover.ErrSource, found.Text}
	case objects.ErrReplaced:
		return &fault{errChanged, found.Text}
	case urls.ErrURL:
		return &fault{ingest.ErrUse, found.Text}
	}
	return &fault{found.Kind, found.Text}
}
