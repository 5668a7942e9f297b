package main

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"straggler/spelling"
	"straggler/table"
	"straggler/tempfile"
)

// output configures where results are written, and how.
type output struct {
	file string // -o
	as   string // --as
}

func (o *output) flags(c *cobra.Command, encodings string) {
	c.Flags().StringVarP(&o.file, "output", "o", "-", "write the result to `FILE`, whose extension picks the encoding; - is standard output")
	c.Flags().StringVar(&o.as, "as", "", "`ENCODING` of the result: "+encodings)
}

func (o *output) toFile() bool { return o.file != "-" }

const rowEncodings = "table, csv, json, jsonl, md, parquet"

// outputFlags are the flags for files that a verb writes.
var outputFlags = []string{"output", "baseline", "junit", "sarif", "openmetrics", "truth"}

// checkOutputs returns an error, before any work is done, if the directory of an output file does not exist, if the file is a
// directory, or if two outputs are the same file.
func checkOutputs(c *cobra.Command) error {
	flagOf := map[string]string{}
	for _, name := range outputFlags {
		f := c.Flags().Lookup(name)
		// a directory, which is created
		if f == nil || f.Value.String() == "" || f.Value.String() == "-" || f.Annotations[cobra.BashCompSubdirsInDir] != nil {
			continue
		}
		if name = "--" + name; f.Shorthand != "" {
			name = "-" + f.Shorthand
		}
		dir := filepath.Dir(f.Value.String())
		info, err := os.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return useError("%s %s: there is no directory %s; make it first", name, f.Value, dir)
		case err == nil && !info.IsDir():
			return useError("%s %s: %s is not a directory", name, f.Value, dir)
		}
		if info, err := os.Stat(f.Value.String()); err == nil && info.IsDir() {
			return useError("%s %s: is a directory; name a file in it", name, f.Value)
		}
		file := filepath.Clean(f.Value.String())
		if other := flagOf[file]; other != "" && !strings.HasPrefix(file, "/dev/") {
			return useError("%s and %s are the same file, %s", other, name, f.Value)
		}
		flagOf[file] = name
	}
	return nil
}

// encoding returns the encoding of rows.
func (o *output) encoding() (table.Encoding, error) {
	if o.as != "" {
		if e, ok := table.Named(o.as); ok {
			return e, nil
		}
		return table.Encoding{}, useError("--as %s: no such encoding; %s", o.as, spelling.Choices(o.as, strings.Split(rowEncodings, ", ")))
	}
	if !o.toFile() {
		return table.Encodings()[0], nil
	}
	if e, ok := table.ForFile(o.file); ok {
		return e, nil
	}
	return table.Encoding{}, useError("-o %s: the extension names no encoding; give --as, one of %s", o.file, rowEncodings)
}

// rows writes rows in the chosen encoding.
func (e *env) rows(o output, rows table.Rows) error {
	enc, err := o.encoding()
	if err != nil {
		return err
	}
	write := e.write
	if enc.Binary {
		write = e.writeBinary
	}
	return write(o, func(w io.Writer) error {
		opt := table.Options{}
		if !o.toFile() && e.outTerminal {
			opt = table.Options{MaxWidth: e.width(), Terminal: true}
		}
		_, err := enc.Write(w, rows, opt)
		return err
	})
}

// writeBinary is write for output that a terminal cannot show.
func (e *env) writeBinary(o output, body func(io.Writer) error) error {
	if e.outTerminal && !o.toFile() {
		return useError("this encoding is binary and not written to a terminal; give -o FILE")
	}
	return e.write(o, body)
}

// write writes to standard output, or to a file that appears under its name when it is complete.
func (e *env) write(o output, body func(io.Writer) error) error {
	if o.toFile() {
		return writeFile(o.file, body)
	}
	w := bufio.NewWriterSize(e.out, 64<<10)
	return errors.Join(body(w), w.Flush())
}

// writeFile replaces a file. A symbolic link is followed; anything but a regular file, such as a pipe, is written to directly.
func writeFile(name string, body func(io.Writer) error) (err error) {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return useError("-o %s: is a directory; name a file in it", name)
		}
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return useError("-o: %v", err)
		}
		return errors.Join(body(f), f.Close())
	}
	began, temp := false, ""
	err = tempfile.Replace(name, func(f *os.File) error {
		began, temp = true, f.Name()
		w := bufio.NewWriterSize(f, 256<<10)
		err := errors.Join(body(w), w.Flush())
		if info, failed := os.Stat(name); failed == nil {
			f.Chmod(info.Mode().Perm())
		}
		return err
	})
	var pathErr *fs.PathError
	switch {
	case err != nil && !began:
		if errors.As(err, &pathErr) {
			err = pathErr.Err
		}
		return useError("-o %s: %v", name, err)
	case errors.As(err, &pathErr) && pathErr.Path == temp:
		pathErr.Path = name // the file that the user knows
	}
	return err
}

// rendering is an encoding of a document of type D, and how to write it.
type rendering[D any] struct {
	name, extension string
	write           func(w io.Writer, d D) error
}

// pickRendering chooses by --as, or by the longest extension that fits; the first is for standard output.
func pickRendering[D any](o output, all []rendering[D]) (best rendering[D], err error) {
	for _, r := range all {
		switch {
		case o.as == r.name:
			return r, nil
		case strings.HasSuffix(strings.ToLower(o.file), r.extension) && len(r.extension) > len(best.extension):
			best = r
		}
	}
	switch {
	case o.as != "":
		return best, useError("--as %s: no such encoding; %s", o.as, spelling.Choices(o.as, strings.Split(encodingNames(all), ", ")))
	case !o.toFile():
		return all[0], nil
	case best.name == "":
		return best, useError("-o %s: the extension names no encoding; give --as, one of %s", o.file, encodingNames(all))
	}
	return best, nil
}

// encodingNames lists the names of renderings as help texts and messages do.
func encodingNames[D any](all []rendering[D]) string {
	var names []string
	for _, r := range all {
		names = append(names, r.name)
	}
	return strings.Join(names, ", ")
}
