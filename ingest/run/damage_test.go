package run_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"straggler/ingest"
	"straggler/ingest/run"
	"straggler/schema"
)

// A file whose bytes do not match its checksum is reported as damaged, whatever wrote it, and what was read of it is kept.
func TestDamage(t *testing.T) {
	log := toyLog("good", 3)
	var frame, snappy bytes.Buffer
	lz := lz4.NewWriter(&frame)
	sn := s2.NewWriter(&snappy, s2.WriterSnappyCompat())
	zs, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(true))
	_, e1 := lz.Write(log)
	_, e2 := sn.Write(log)
	if err := errors.Join(err, e1, e2, lz.Close(), sn.Close()); err != nil {
		t.Fatal(err)
	}
	snappyData := bytes.Index(snappy.Bytes(), log[:3])
	z := zipped(t, entry{"x.log", log})
	directory := bytes.Index(z, []byte("PK\x01\x02"))
	for name, c := range map[string]struct {
		data []byte
		at   int // a byte of the checksum, or one covered by it
		keep []string
	}{
		// RFC 1952: the CRC, then the size, 4 bytes each
		"x.log.gz":     {gzipped(t, log), len(gzipped(t, log)) - 8, []string{"good 3"}},
		"x.tar.gz":     {gzipped(t, tarred(t, entry{"x.log", log})), len(gzipped(t, tarred(t, entry{"x.log", log}))) - 8, []string{"good 3"}},
		"x.zip":        {z, directory + 16, []string{"good 3"}}, // APPNOTE 4.3.12: the CRC in the central directory
		"x.log.bz2":    {toyBzip2, 10, []string{"good 2"}},      // after the block's magic: its CRC
		"x.log.zst":    {zs.EncodeAll(log, nil), len(zs.EncodeAll(log, nil)) - 1, nil},
		"x.log.lz4":    {frame.Bytes(), frame.Len() - 1, []string{"good 3"}},
		"x.log.snappy": {snappy.Bytes(), snappyData, nil},
	} {
		data := bytes.Clone(c.data)
		data[c.at] ^= 4
		st := newStore(t)
		dir := tree(t, map[string][]byte{name: data})
		s, err := run.Run(t.Context(), st, []ingest.Format{toy()}, []string{dir}, run.Options{TempDir: t.TempDir()})
		bad := s.Unread()
		if len(bad) != 1 || !errors.Is(bad[0].Err, ingest.ErrCorrupt) || !strings.Contains(bad[0].Reason, "damaged") {
			t.Errorf("%s: %v, error %v, unread %+v", name, statuses(dir, s), err, bad)
			continue
		}
		if c.keep == nil && !errors.Is(err, run.ErrUnreadable) {
			t.Errorf("%s: error %v", name, err)
		}
		if c.keep != nil {
			want(t, attempts(t, st), c.keep)
		}
	}
}

// oneWord returns a format that reads what it needs and leaves the rest, like one whose log is a single object.
func oneWord() ingest.Format {
	f := toy()
	f.Read = func(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
		r, err := in.Parts[0].Open(ctx)
		if err != nil {
			return err
		}
		defer r.Close()
		if _, err := io.ReadFull(r, make([]byte, len("toy"))); err != nil {
			return err
		}
		out.Decoded(1)
		return ingest.Emit(out, []schema.Application{{ApplicationID: in.Key, NativeID: "word", Framework: "toy",
			TimeOrigin: "epoch", Status: schema.RunUnknown}})
	}
	return f
}

// A wrong checksum is found even though the reader had everything it needed before.
func TestDamageBehindTheLog(t *testing.T) {
	data := gzipped(t, toyLog("good", 3))
	data[len(data)-8] ^= 4
	dir := tree(t, map[string][]byte{"x.log.gz": data})
	s, err := run.Run(t.Context(), newStore(t), []ingest.Format{oneWord()}, []string{dir}, run.Options{})
	if err != nil || s.Count(run.Partial) != 1 || !errors.Is(s.Results[0].Err, ingest.ErrCorrupt) {
		t.Errorf("%+v, error %v", s.Results, err)
	}
}

// Package bzip2 returns the bytes of a block before it has verified the block's checksum: if these are then not a log, the file is
// reported as damaged.
func TestDamagedBeyondRecognition(t *testing.T) {
	data := bytes.Clone(toyBzip2)
	data[45] ^= 4 // within the block
	dir := tree(t, map[string][]byte{"x.log.bz2": data})
	s, err := run.Run(t.Context(), newStore(t), []ingest.Format{toy()}, []string{dir}, run.Options{})
	if !errors.Is(err, run.ErrUnreadable) || len(s.Results) != 1 || !errors.Is(s.Results[0].Err, ingest.ErrCorrupt) {
		t.Errorf("%+v, error %v", s.Results, err)
	}
}

// toyBzip2 is the output of bzip2 for the lines toy good, run a, run b.
var toyBzip2 = []byte("BZh9\x31\x41\x59\x26\x53\x59" +
	"\x36\x7c\x3f\xf3\x00\x00\x08\xd1\x80\x00\x10\x40\x00\x34\x81\x96\x20\x20\x00\x31\x03\x40\xd0\x1a\x13\xd4\xf4\x9a\x7a\x1e\x14\x1a\x1e\x96\x2b\x1f\xe1\x83\xa2\xee\x48\xa7\x0a\x12\x06\xcf\x87\xfe\x60")
