package straggler

import (
	"os"
	"strings"
	"testing"

	"straggler/schema"
)

// ARCHITECTURE.md shows the glossary as it is, term by term.
func TestGlossaryIsShown(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n## Glossary\n")
	if !ok {
		t.Fatal("ARCHITECTURE.md has no section Glossary")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var shown []string
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| term |") {
			shown = append(shown, strings.TrimSpace(line))
		}
	}
	terms := schema.Glossary()
	for i, e := range terms {
		if want := "| " + e.Word + " | " + e.Meaning + " |"; i >= len(shown) || shown[i] != want {
			t.Fatalf("term %d of the section Glossary in ARCHITECTURE.md should be\n%s", i+1, want)
		}
	}
	if len(shown) != len(terms) {
		t.Errorf("ARCHITECTURE.md shows %d terms, the glossary has %d", len(shown), len(terms))
	}
}
