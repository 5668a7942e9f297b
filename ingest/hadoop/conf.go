package hadoop

import (
	"bytes"
	"errors"
	"html"
	"slices"
	"strings"

	"straggler/ingest/read"
	"straggler/schema"
)

// kept lists words, those relevant to stragglers. A setting is kept only if its name contains one of them. An allow list
// reliably excludes credentials.
var kept = []string{
	"speculative", "slowstart", "split.m", "job.maps", "job.reduces", "map.tasks", "reduce.tasks", "memory.mb",
	"maxattempts", "max.attempts", "queuename", "queue.name", "parallelcopies", "parallel.copies", "io.sort.mb", "task.timeout",
	"estimator", "jvm.num",
}

const maxSettings = 500

// maxConf bounds a configuration; real ones have 100 KiB, and queries in them some more.
const maxConf = 16 << 20

var errNoConf = errors.New("it has no properties; is it a configuration?")

// readConf reads a job's configuration file and keeps the relevant settings. It parses the names and values of properties, and
// comments; configurations use no other features of XML.
func readConf(b []byte) (out []schema.Setting, err error) {
	var name, value []byte
	properties := 0
	for {
		i := bytes.IndexByte(b, '<')
		if i < 0 {
			break
		}
		b = b[i:]
		switch {
		case bytes.HasPrefix(b, []byte("<!--")):
			b = behind(b, "-->")
		case bytes.HasPrefix(b, []byte("<name>")):
			name, b = element(b, "<name>", "</name>")
		case bytes.HasPrefix(b, []byte("<value>")):
			value, b = element(b, "<value>", "</value>")
		case bytes.HasPrefix(b, []byte("</property>")):
			properties++
			if keep(name) && len(value) <= 1000 && len(out) < maxSettings {
				out = append(out, schema.Setting{Name: read.Text(plainXML(name)), Value: read.Text(plainXML(value))})
			}
			name, value, b = nil, nil, b[1:]
		default:
			b = b[1:]
		}
	}
	if properties == 0 {
		return nil, errNoConf
	}
	slices.SortFunc(out, func(a, b schema.Setting) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// element returns the text of the element at the start of b, and the rest.
func element(b []byte, open, end string) (text, rest []byte) {
	b = b[len(open):]
	i := bytes.Index(b, []byte(end))
	if i < 0 {
		return nil, nil
	}
	return b[:i], b[i+len(end):]
}

func behind(b []byte, end string) []byte {
	_, rest, _ := bytes.Cut(b, []byte(end))
	return rest
}

// plainXML resolves XML escapes.
func plainXML(b []byte) string {
	s := string(b)
	if in, ok := strings.CutPrefix(s, "<![CDATA["); ok {
		return strings.TrimSuffix(in, "]]>")
	}
	if strings.IndexByte(s, '&') < 0 {
		return s
	}
	return html.UnescapeString(s)
}

func keep(name []byte) bool {
	if len(name) == 0 || len(name) > 200 {
		return false
	}
	n := bytes.ToLower(name)
	for _, k := range kept {
		if bytes.Contains(n, []byte(k)) {
			return true
		}
	}
	return false
}
