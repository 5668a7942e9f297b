package discover

import (
	"path/filepath"

	"straggler/ingest"
	"straggler/ingest/codec"
)

// candidate is a possible input: a file, or files that a format claims to belong together.
type candidate struct {
	name     string // as the user would write it
	base     string
	files    []*file        // in reading order
	claim    *ingest.Format // the format that claims them; nil for a single file
	explicit bool           // the user named it, rather than a directory that contains it

	rewritten bool // see ingest.Group
	depth     int  // archives around it
}

func single(f *file, explicit bool, depth int) *candidate {
	return &candidate{name: f.name, base: codec.Trim(filepath.Base(f.name)), files: []*file{f}, explicit: explicit, depth: depth}
}

// Size returns the size of the files as stored; -1 unknown.
func (c *candidate) Size() int64 {
	total := int64(0)
	for _, f := range c.files {
		if f.size < 0 {
			return -1
		}
		total += f.size
	}
	return total
}

// Rewritten reports whether the log's beginning may have been rewritten; see ingest.Group.
func (c *candidate) Rewritten() bool { return c.rewritten }

// id identifies a candidate from one walk to the next. A group may have more files every time.
func (c *candidate) id() string {
	if c.claim != nil {
		return c.name + "/" + c.base
	}
	return c.name
}

// Named is a possible log, judged by its name.
type Named struct {
	ID      string // the same in each walk
	Name    string // as the user would write it
	Version FileVersion
}

// FileVersion shows whether files have changed, without reading them.
type FileVersion struct {
	Bytes    int64
	Modified int64 // the latest, in ns
	Files    int
}

// Version returns the current state of the files.
func (c *candidate) Version() FileVersion {
	v := FileVersion{Files: len(c.files)}
	for _, f := range c.files {
		v.Bytes += f.size
		v.Modified = max(v.Modified, f.modified)
	}
	return v
}
