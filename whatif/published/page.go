package published

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
)

//go:embed page.tmpl
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// HTML writes a run as a self-contained page, with the given style sheet.
func HTML(w io.Writer, rows []Row, figures []Figure, style string) error {
	sum := sha256.Sum256([]byte(style))
	b := bufio.NewWriter(w)
	err := pageTemplate.Execute(b, struct {
		*sheet
		Style template.HTML
		Hash  string
	}{newSheet(rows, figures), template.HTML("<style>" + style + "</style>"), "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"})
	if err != nil {
		return fmt.Errorf("published: writing HTML: %w", err)
	}
	return b.Flush()
}
