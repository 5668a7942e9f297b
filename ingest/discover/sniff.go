package discover

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"straggler/ingest"
	"straggler/ingest/codec"
)

// peek reads the first decompressed bytes of a candidate, from its first non-empty file.
func peek(ctx context.Context, c *candidate, buf []byte) (head ingest.Head, layers []string, err error) {
	for _, f := range c.files {
		head, layers, err = peekFile(ctx, f, buf)
		if err != nil || len(head.Bytes) > 0 {
			break
		}
	}
	return head, layers, err
}

func peekFile(ctx context.Context, f *file, buf []byte) (ingest.Head, []string, error) {
	head := ingest.Head{Name: codec.Trim(filepath.Base(f.name))}
	stats := new(fileStats)
	var r io.ReadCloser
	var err error
	if f.once != nil {
		r, stats, err = f.begin(ctx)
	} else {
		r, err = f.reader(ctx, stats)
	}
	if err != nil {
		return head, nil, err
	}
	n, err := io.ReadFull(r, buf)
	head.Bytes = buf[:n]
	head.Whole = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if f.once != nil {
		f.once.head = append([]byte(nil), head.Bytes...)
	} else if cerr := r.Close(); cerr != nil && err == nil {
		err = cerr
	}
	// A file that breaks off after some good bytes is recognised by those; the reader will meet the error again.
	if err != nil && !head.Whole && n == 0 {
		return head, stats.layers, err
	}
	return head, stats.layers, nil
}

// recognise tries the formats. A group belongs to the format that claimed it, unless the content contradicts that; a file that
// the user named belongs to the format that the user forced, whose confidence may be 0.
func recognise(formats []ingest.Format, c *candidate, h ingest.Head, forced bool) (format *ingest.Format, match ingest.Match, err error) {
	defer ingest.Recover(&err)
	if len(h.Bytes) == 0 && c.claim == nil {
		return nil, ingest.Match{}, fmt.Errorf("%w: it is empty", ErrNotRecognised)
	}
	if forced && c.explicit {
		return &formats[0], ingest.Match{Confidence: formats[0].Sniff(h).Confidence, Why: "named by --from"}, nil
	}
	if c.claim != nil {
		if m := c.claim.Sniff(h); m.Confidence > 0 {
			return c.claim, m, nil
		}
		return nil, ingest.Match{}, fmt.Errorf("%w: its names are those of %s, its content is not", ErrNotRecognised, c.claim.Name)
	}
	var best []*ingest.Format
	for i := range formats {
		f := &formats[i]
		m := f.Sniff(h)
		if m.Confidence <= 0 || m.Confidence < match.Confidence {
			continue
		}
		if m.Confidence > match.Confidence {
			best, match = nil, m
		}
		best = append(best, f)
	}
	switch {
	case len(best) == 1:
		return best[0], match, nil
	case len(best) > 1:
		return nil, ingest.Match{}, fmt.Errorf("%w: %s; name one with --from", ErrAmbiguous, formatNames(best))
	}
	if bytes.HasPrefix(h.Bytes, []byte("version https://git-lfs.github.com/spec/")) {
		return nil, ingest.Match{}, fmt.Errorf("%w: it is a pointer to a file in Git LFS; fetch the file with git lfs pull", ErrNotRecognised)
	}
	if wide := wideEncoding(h.Bytes); wide != "" {
		return nil, ingest.Match{}, fmt.Errorf("%w: it is text in UTF-16; convert it to UTF-8, with iconv -f %s -t UTF-8", ErrNotRecognised, wide)
	}
	for i := range formats {
		if f := &formats[i]; f.Instead != nil {
			if instead := f.Instead(h); instead != "" {
				return nil, ingest.Match{}, fmt.Errorf("%w: it is %s", ErrNotRecognised, instead)
			}
		}
	}
	return nil, ingest.Match{}, fmt.Errorf("%w; it starts with \"%s\"", ErrNotRecognised, ingest.Sample(h.Bytes[:min(len(h.Bytes), 40)]))
}

// wideEncoding returns iconv's name of the encoding of a text in UTF-16, or "" for any other: detected by its mark, or because
// each of the first characters, which are ASCII in every log, has one zero byte.
func wideEncoding(head []byte) string {
	const enough = 16
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return "UTF-16"
	case len(head) < enough:
		return ""
	}
	var zeros [2]int
	for i, b := range head[:enough] {
		if b == 0 {
			zeros[i%2]++
		}
	}
	switch zeros {
	case [2]int{0, enough / 2}:
		return "UTF-16LE"
	case [2]int{enough / 2, 0}:
		return "UTF-16BE"
	}
	return ""
}

func formatNames(formats []*ingest.Format) string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name
	}
	return strings.Join(names, " and ")
}
