package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"straggler/ingest"
	"straggler/ingest/run"
)

// logOptions configure the reading of logs, for every verb that reads logs.
type logOptions struct {
	from     string
	literals bool
	limits   ingest.Limits
}

// flags adds --from and the limits for logs. The defaults suit any honest log; the message about a log that exceeds a limit
// names the flag.
func (o *logOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.from, "from", "", "read the logs as `FORMAT` instead of recognising it by content; straggler formats lists them")
	f.BoolVar(&o.literals, "keep-literals", false, "keep the literals in queries and their plans, which may be personal data")
	l := &o.limits
	*l = ingest.Limits{}.WithDefaults()
	f.Var((*size)(&l.Line), "max-line", "skip lines that are longer than `SIZE`, as rejects")
	f.Var((*size)(&l.Input), "max-input", "decompress at most `SIZE` of a log or an archive; an uncompressed log is read whole")
	f.Var((*size)(&l.Run), "max-run", "decompress at most `SIZE` of all logs and archives together")
	f.Var(&atLeastOne[int64]{&l.Ratio}, "max-ratio", "stop decompressing what has grown to over `N` times its size and 100 MiB")
	f.Var(&atLeastOne[int]{&l.Entries}, "max-entries", "read no archive of more than `N` entries")
	f.Var((*size)(&l.Spool), "max-temp", "use at most `SIZE` of the temporary directory for archives and streams")
	f.Var(&atLeastOne[int64]{&l.Rejects}, "max-rejects", "keep the first `N` rejected records of a log as rows, and count the others")
}

// options returns the options of a run.
func (o *logOptions) options() run.Options {
	return run.Options{From: o.from, Limits: o.limits, Literals: o.literals}
}

// maxSize bounds the sizes of flags, so that no sum of them overflows.
const maxSize = 1 << 60

// size is a flag for a number of bytes, such as 500MB or 64MiB.
type size int64

func (s *size) String() string { return strings.ReplaceAll(humanize.IBytes(uint64(*s)), " ", "") }

func (s *size) Set(text string) error {
	n, err := humanize.ParseBytes(text)
	if err != nil || n == 0 || n > maxSize {
		return errors.New("write a size as 500MB, 64MiB or 2TB")
	}
	*s = size(n)
	return nil
}

func (*size) Type() string { return "size" }

// atLeastOne is a flag for a number of at least 1.
type atLeastOne[T int | int64] struct{ v *T }

func (n atLeastOne[T]) String() string {
	if n.v == nil || *n.v == 0 { // no default
		return ""
	}
	return strconv.FormatInt(int64(*n.v), 10)
}

func (n atLeastOne[T]) Set(text string) error {
	v, err := strconv.ParseInt(text, 10, strconv.IntSize)
	if err != nil || v < 1 {
		return errors.New("give a number from 1")
	}
	*n.v = T(v)
	return nil
}

func (atLeastOne[T]) Type() string { return "number" }
