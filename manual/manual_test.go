package manual

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func tree() *cobra.Command {
	root := &cobra.Command{Use: "tool", Short: "Do things", Long: "It does things.\n.This line starts with a dot, and 'that' has a \\ in it."}
	sub := &cobra.Command{Use: "dig HOLE", Short: "Dig - a hole", Example: "  tool dig 'a hole'", RunE: func(*cobra.Command, []string) error { return nil }}
	sub.Flags().StringP("out", "o", "", "write to `FILE`")
	sub.Flags().Bool("secret", false, "")
	if err := sub.Flags().MarkHidden("secret"); err != nil {
		panic(err)
	}
	root.AddCommand(sub, &cobra.Command{Use: "hidden", Hidden: true, RunE: sub.RunE}, &cobra.Command{Use: "topic", Short: "What to know", Long: "Know this."})
	return root
}

// Every command and topic that the help lists has a page, which groff, if installed, renders without a warning and with the
// words of the help unchanged.
func TestPages(t *testing.T) {
	dir := t.TempDir()
	if err := Write(tree(), "1.2.3", dir); err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(pages) != 3 {
		t.Fatalf("%v, %v", pages, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "tool-dig.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{".TH \"TOOL\\-DIG\" 1 \"\" \"straggler 1.2.3\"", ".TP\n.B \"\\-o, \\-\\-out FILE\"\nwrite to FILE\n", ".BR \"tool\" (1)\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "secret") {
		t.Errorf("a hidden option is on the page:\n%s", text)
	}
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("no groff")
	}
	for _, p := range pages {
		cmd := exec.Command("groff", "-man", "-Tutf8", "-ww", "-P-cbou", p)
		var said strings.Builder
		cmd.Stderr = &said
		shown, err := cmd.Output()
		if err != nil || said.Len() > 0 {
			t.Errorf("%s: %v\n%s", p, err, &said)
		}
		if filepath.Base(p) == "tool.1" && !strings.Contains(string(shown), `.This line starts with a dot, and 'that' has a \ in it.`) {
			t.Errorf("groff shows\n%s", shown)
		}
	}
}

// No line of a text becomes a request, whatever it contains.
func FuzzEscaped(f *testing.F) {
	f.Add(".so /etc/passwd")
	f.Add("'br")
	f.Add("a\r.b\n.c\\n")
	f.Fuzz(func(t *testing.T, line string) {
		got := escaped(line)
		if strings.HasPrefix(got, ".") || strings.HasPrefix(got, "'") || strings.ContainsAny(got, "\n\r") {
			t.Errorf("%q becomes %q", line, got)
		}
	})
}
