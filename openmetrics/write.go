package openmetrics

import (
	"bufio"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Family is a gauge with its samples.
type Family struct {
	Name, Help string
	Samples    []Sample
}

// Sample is a value with its labels, alternately names and values.
type Sample struct {
	Labels []string
	Value  float64
}

// add adds a finite value. Prometheus rejects a file that has the same labels twice, so of names that are equal up to maxLabel
// only the first is added.
func (f *Family) add(value float64, labels ...string) {
	for i := 1; i < len(labels); i += 2 {
		labels[i] = clean(labels[i])
	}
	twice := slices.ContainsFunc(f.Samples, func(s Sample) bool { return slices.Equal(s.Labels, labels) })
	if !twice && !math.IsNaN(value) && !math.IsInf(value, 0) {
		f.Samples = append(f.Samples, Sample{labels, value})
	}
}

// maxLabel bounds the value of a label, in runes.
const maxLabel = 120

// clean makes the value of a label from a name in a log: valid UTF-8, printable, and at most maxLabel long. U+FFFD is replaced
// too, since Prometheus's queries cannot contain it.
func clean(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range strings.ToValidUTF8(s, "?") {
		if n == maxLabel {
			break
		}
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			r = '?'
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// Write writes the families that have samples.
func Write(w io.Writer, families []Family) error {
	b := bufio.NewWriter(w)
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	for _, f := range families {
		if len(f.Samples) == 0 {
			continue
		}
		b.WriteString("# HELP " + f.Name + " " + f.Help + "\n# TYPE " + f.Name + " gauge\n")
		for _, s := range f.Samples {
			b.WriteString(f.Name)
			for i := 0; i < len(s.Labels); i += 2 {
				b.WriteByte("{,"[min(i, 1)])
				b.WriteString(s.Labels[i] + `="` + escape.Replace(s.Labels[i+1]) + `"`)
			}
			if len(s.Labels) > 0 {
				b.WriteByte('}')
			}
			b.WriteString(" " + strconv.FormatFloat(s.Value, 'g', -1, 64) + "\n")
		}
	}
	b.WriteString("# EOF\n")
	return b.Flush()
}
