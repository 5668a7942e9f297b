package hadoop

import (
	"bytes"
	"strconv"

	"straggler/ingest/read/pull"
	"straggler/schema"
)

// counter is one of the counters used here.
type counter uint8

const (
	notUsed      counter = iota
	bytesRead            // of all file systems except the local one
	bytesWritten         // likewise
	localWritten
	mapInputBytes // of the split, in old logs
	shuffleBytes
	outputMaterialized
	outputBytes
	inputRecords
	reduceRecords
	spilledRecords
	cpuMillis
	gcMillis
	physicalMemory
	numCounters
)

// counters are the counters of an attempt.
type counters struct {
	values [numCounters]int64
	known  uint32 // a bit each; that of notUsed means that the log has counters at all
}

func (c *counters) counted() bool { return c.known != 0 }

func (c *counters) get(k counter) schema.Null[int64] {
	return schema.Null[int64]{V: c.values[k], OK: c.known>>k&1 == 1}
}

// set records a counter. Counters of several file systems are summed.
func (c *counters) set(k counter, v int64) {
	c.known |= 1
	switch {
	case k == notUsed || v < 0:
		return
	case k == bytesRead || k == bytesWritten:
		c.values[k] += v
	default:
		c.values[k] = v
	}
	c.known |= 1 << k
}

// counterNames finds counters by group and name, in any spelling that Hadoop has used: it ignores case, spaces, '-', '_' and
// '.', like Rumen. It caches results and must not be used concurrently.
type counterNames struct {
	files, others map[string]counter // in groups of file systems, and in the others
}

// maxCounterNames bounds the cache, since users can invent names.
const maxCounterNames = 4096

func (n *counterNames) find(fileSystems bool, name []byte) counter {
	known := &n.others
	if fileSystems {
		known = &n.files
	}
	if k, ok := (*known)[string(name)]; ok {
		return k
	}
	k := taskCounter(plainName(name))
	if fileSystems {
		k = fileCounter(plainName(name))
	}
	if *known == nil || len(*known) >= maxCounterNames {
		*known = map[string]counter{}
	}
	(*known)[string(name)] = k
	return k
}

// fileCounter parses SCHEME_BYTES_READ, SCHEME_BYTES_WRITTEN, and the 'Local bytes read' of 0.18.
func fileCounter(name string) counter {
	scheme, read := bytes.CutSuffix([]byte(name), []byte("bytesread"))
	if !read {
		var written bool
		if scheme, written = bytes.CutSuffix([]byte(name), []byte("byteswritten")); !written {
			return notUsed
		}
	}
	switch local := string(scheme) == "file" || string(scheme) == "local"; {
	case len(scheme) == 0, local && read:
		return notUsed
	case local:
		return localWritten
	case read:
		return bytesRead
	}
	return bytesWritten
}

func taskCounter(name string) counter {
	switch name {
	case "mapinputbytes":
		return mapInputBytes
	case "mapinputrecords":
		return inputRecords
	case "reduceinputrecords":
		return reduceRecords
	case "reduceshufflebytes":
		return shuffleBytes
	case "mapoutputmaterializedbytes":
		return outputMaterialized
	case "mapoutputbytes":
		return outputBytes
	case "spilledrecords":
		return spilledRecords
	case "cpumilliseconds", "cputimespentms", "cputimespent(ms)":
		return cpuMillis
	case "gctimemillis", "gctimeelapsedms", "gctimeelapsed(ms)":
		return gcMillis
	case "physicalmemorybytes", "physicalmemory(bytes)snapshot":
		return physicalMemory
	}
	return notUsed
}

// pull reads {"name": …, "groups": [{"name", "displayName", "counts": [{"name", "displayName", "value"}]}]}, bare or
// wrapped by the name of its type.
func (n *counterNames) pull(p *pull.Puller, c *counters) {
	for ok := p.Object(); ok && p.Key(); {
		switch {
		case string(p.Name) == "groups":
			for ok := p.Array(); ok && p.Elem(); {
				n.pullGroup(p, c)
			}
		case p.Peek() == '{':
			n.pull(p, c)
		default:
			p.Skip()
		}
	}
}

func (n *counterNames) pullGroup(p *pull.Puller, c *counters) {
	fileSystems := false
	for ok := p.Object(); ok && p.Key(); {
		switch string(p.Name) {
		case "name":
			name, _ := p.Str()
			fileSystems = ofFileSystems(name)
		case "counts":
			for ok := p.Array(); ok && p.Elem(); {
				n.pullCount(p, c, fileSystems)
			}
		default:
			p.Skip()
		}
	}
}

func (n *counterNames) pullCount(p *pull.Puller, c *counters, fileSystems bool) {
	k := notUsed
	for ok := p.Object(); ok && p.Key(); {
		switch string(p.Name) {
		case "name":
			name, _ := p.Str()
			k = n.find(fileSystems, name)
		case "value":
			if v, ok := p.Number(); ok {
				c.set(k, v)
			}
		default:
			p.Skip()
		}
	}
}

// parse reads the counters of a text history, {(group)(display)[(name)(display)(value)]…}…, or the older 'Group.display
// name:value,…'. Characters that would end a part are escaped by a backslash, s being unescaped as the value of a record already.
func (n *counterNames) parse(s []byte, c *counters) {
	if len(s) == 0 || s[0] != '{' {
		n.parseOld(s, c)
		return
	}
	fileSystems := false
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{': // ( group )
			group, _ := parenthesis(s, i+1)
			fileSystems = ofFileSystems(group)
		case '[':
			name, end := parenthesis(s, i+1)
			_, end = parenthesis(s, end)
			value, end := parenthesis(s, end)
			if end >= len(s) || s[end] != ']' {
				continue
			}
			if v, err := strconv.ParseInt(string(value), 10, 64); err == nil {
				c.set(n.find(fileSystems, name), v)
			}
			i = end
		}
	}
}

// parenthesis returns the text between the parentheses that open at i, and where they end.
func parenthesis(s []byte, i int) (in []byte, next int) {
	if i >= len(s) || s[i] != '(' {
		return nil, len(s)
	}
	for j := i + 1; j < len(s); j++ {
		switch s[j] {
		case '\\':
			j++
		case ')':
			return s[i+1 : j], j + 1
		}
	}
	return nil, len(s)
}

func (n *counterNames) parseOld(s []byte, c *counters) {
	for len(s) > 0 {
		var part []byte
		part, s, _ = bytes.Cut(s, []byte(","))
		i := bytes.LastIndexByte(part, ':')
		if i < 0 {
			continue
		}
		name, group := part[:i], []byte(nil)
		if dot := bytes.LastIndexByte(name, '.'); dot >= 0 {
			group, name = name[:dot], name[dot+1:]
		}
		if v, err := strconv.ParseInt(string(bytes.TrimSpace(part[i+1:])), 10, 64); err == nil {
			c.set(n.find(ofFileSystems(group), name), v)
		}
	}
}

// ofFileSystems reports whether a group counts the bytes of file systems: org.apache.hadoop.mapreduce.FileSystemCounter,
// FileSystemCounters of 0.20, File Systems of 0.18. Input formats count the same bytes again under BYTES_READ.
func ofFileSystems(group []byte) bool {
	const a, b = "filesystem", "FileSystem"
	return bytes.Contains(group, []byte(b)) || bytes.Contains([]byte(plainName(group)), []byte(a))
}

func plainName(s []byte) string {
	b := make([]byte, 0, len(s))
	for _, c := range s {
		switch {
		case c == ' ' || c == '-' || c == '_' || c == '.' || c == '\\':
		case c >= 'A' && c <= 'Z':
			b = append(b, c+'a'-'A')
		default:
			b = append(b, c)
		}
	}
	return string(b)
}
