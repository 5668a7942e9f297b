package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"straggler/audit"
)

// Annotations writes workflow commands, which GitHub shows next to the code. Findings that do not fail the build are notices.
func Annotations(w io.Writer, n *audit.Night, cfg *audit.Config) error {
	out := bufio.NewWriter(w)
	for _, f := range n.Findings() {
		if f.Status == audit.Fixed || f.Status == audit.Suppressed {
			continue
		}
		command := "notice"
		if f.Fails(cfg) {
			command = string(f.Severity)
		}
		props := "title=" + property.Replace("straggler "+f.Rule+" "+f.ID)
		if f.Stage != nil {
			if p, ok := place(f.Stage.Stage); ok {
				props = fmt.Sprintf("file=%s,line=%d,%s", property.Replace(p.File), p.Line, props)
			}
		}
		text := safe(title(&f))
		for _, e := range evidenceOf(&f) {
			text += "\n" + safe(e)
		}
		fmt.Fprintf(out, "::%s %s::%s\n", command, props, message.Replace(text))
	}
	return out.Flush()
}

// Escapes of workflow commands: for line ends and the escape character and, in properties, for their delimiters.
var (
	message  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
