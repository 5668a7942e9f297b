package hadoop

import (
	"encoding/xml"
	"io"
	"sort"
	"strings"

	"straggler/schema"
)

// kept are the words of which one must be in the name of a setting for it to be kept: what bears on stragglers.
// A list of what may pass keeps credentials out for certain.
var kept = []string{
	"speculative", "slowstart", "split.m", "job.maps", "job.reduces", "map.tasks", "reduce.tasks", "memory.mb",
	"maxattempts", "max.attempts", "queuename", "queue.name", "parallelcopies", "parallel.copies", "io.sort.mb", "task.timeout",
	"estimator", "jvm.num",
}

const maxSettings = 500

// readConf reads a job's configuration file and keeps the settings that matter here.
func readConf(r io.Reader) ([]schema.Setting, error) {
	dec := xml.NewDecoder(r)
	dec.Strict = false
	var out []schema.Setting
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			sort.Slice(out, func(a, b int) bool { return out[a].Name < out[b].Name })
			return out, nil
		}
		if err != nil {
			return out, err
		}
		start, ok := tok.(xml.StartElement)
		if !ok || start.Name.Local != "property" {
			continue
		}
		var p struct {
			Name  string `xml:"name"`
			Value string `xml:"value"`
		}
		if err := dec.DecodeElement(&p, &start); err != nil {
			return out, err
		}
		if keep(p.Name) && len(p.Value) <= 1000 && len(out) < maxSettings {
			out = append(out, schema.Setting{Name: p.Name, Value: p.Value})
		}
	}
}

func keep(name string) bool {
	if len(name) > 200 {
		return false
	}
	n := strings.ToLower(name)
	for _, k := range kept {
		if strings.Contains(n, k) {
			return true
		}
	}
	return false
}
