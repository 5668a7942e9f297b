package strictyaml_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"straggler/strictyaml"
)

type colour string

func (c colour) Check() error {
	if c != "red" && c != "blue" {
		return errors.New("neither red nor blue")
	}
	return nil
}

type house struct {
	Name   string    `yaml:"name" required:"true"`
	Rooms  int       `yaml:"rooms" min:"1" max:"10"`
	Colour colour    `yaml:"colour"`
	Doors  []float64 `yaml:"doors" min:"0" max:"3"`
	Next   *house    `yaml:"next"`
	Corner [2]int    `yaml:"corner"`
}

// Errors name the line and the column.
func TestErrorsNamePositions(t *testing.T) {
	for text, want := range map[string]string{
		"name: a\nroms: 3\n":              `h.yaml:2:1: there is no "roms" here; did you mean rooms? There are name, rooms, colour, doors, next, corner`,
		"name: a\nrooms: 11\n":            "h.yaml:2:8: 11 is not between 1 and 10",
		"name: a\nrooms: many\n":          `h.yaml:2:8: "many" is not a number that fits here`,
		"name: a\nname: b\n":              `h.yaml:2:1: "name" is given twice`,
		"name: a\ncolour: green\n":        "h.yaml:2:9: neither red nor blue",
		"name: a\ndoors:\n  - 1\n  - 4\n": "h.yaml:4:5: 4 is not between 0 and 3",
		"rooms: 2\n":                      "h.yaml:1:1: name is missing",
		"name: a\nnext: {rooms: 2}\n":     "h.yaml:2:7: name is missing",
		"name: [a]\n":                     "h.yaml:1:7: here is one value and not a list",
		"- a\n":                           "h.yaml:1:1: expected names with values",
		"name: &x a\nnext: {name: *x}\n":  "h.yaml:1:7: anchors and aliases are not read",
		"name: a\n---\nname: b\n":         "h.yaml:3:1: a second document",
		"name: !!str a\n":                 "h.yaml:1:7: tags and directives are not read",
		"name: a\nnext:\n  <<: {}\n":      "h.yaml:3:3: anchors and aliases are not read",
		"name: a\n? [b]\n: c\n":           "h.yaml:3:1: no YAML: found an invalid key",
		"name: a\nrooms: 1.5\n":           "h.yaml:2:8: \"1.5\" is not a number",
		"name: a\nrooms: .inf\n":          "h.yaml:2:8: \".inf\" is not a number",
		"name: a\ncorner: [1]\n":          "h.yaml:2:9: here are 2 values, not 1",
		"name: a\n\tb: c\n":               "h.yaml:2:1: no YAML: ",
	} {
		err := strictyaml.Decode("h.yaml", []byte(text), &house{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestDecode(t *testing.T) {
	h := house{Rooms: 4}
	if err := strictyaml.Decode("h.yaml", []byte("name: a\ncolour: red\ndoors: [1, 2.5]\nnext: {name: b, rooms: 1}\n"), &h); err != nil {
		t.Fatal(err)
	}
	if h.Name != "a" || h.Rooms != 4 || h.Colour != "red" || len(h.Doors) != 2 || h.Next == nil || h.Next.Name != "b" {
		t.Errorf("%+v", h)
	}
	if err := strictyaml.Decode("h.yaml", nil, &h); err != nil {
		t.Errorf("an empty file: %v", err)
	}
}

// Scalars of every style have the values that YAML defines.
func TestScalars(t *testing.T) {
	for text, want := range map[string]string{
		"a b":            "a b",
		"'it''s'":        "it's",
		`"tab\tu\u00e9"`: "tab\tué",
		"|\n  x\n  y":    "x\ny\n",
		">-\n  x\n  y":   "x y",
		"12":             "12",
		"true":           "true",
		"2026-12-31":     "2026-12-31",
		"":               "",
		"a # comment":    "a",
	} {
		h := house{}
		if err := strictyaml.Decode("h.yaml", []byte("next: {name: b}\ncolour: red\nname: "+text+"\n"), &h); text != "" && (err != nil || h.Name != want) {
			t.Errorf("%q: %q, %v, want %q", text, h.Name, err, want)
		}
	}
}

// A file cannot make the reader use much memory, depth or time, not even indirectly.
func TestHostileFiles(t *testing.T) {
	laughs := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		laughs += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	stairs := ""
	for i := range 1000 {
		stairs += strings.Repeat(" ", i) + "next:\n"
	}
	for name, c := range map[string]struct{ text, want string }{
		"billion laughs": {laughs, "anchors and aliases are not read"},
		"brackets":       {"doors: " + strings.Repeat("[", 10_000), "more than 64 lists and mappings inside one another"},
		"braces":         {strings.Repeat("{next: ", 10_000), "more than 64 lists and mappings inside one another"},
		"dashes":         {strings.Repeat("- ", 10_000) + "x", "lists and mappings start before column 256"},
		"questions":      {strings.Repeat("? ", 10_000) + "x", "lists and mappings start before column 256"},
		"stairs":         {stairs, "lists and mappings start before column 256"},
		"tags":           {strings.Repeat("!!str ", 10_000), "tags and directives are not read"},
		"names":          {strings.Repeat("a: b\n", 200_000), "h.yaml:10923:4: the file is too long"},
		"size":           {"name: " + strings.Repeat("x", 1<<20), "1048582 bytes; 1048576 are read"},
	} {
		err := strictyaml.Decode("h.yaml", []byte(c.text), &house{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %.200v, want %s", name, err, c.want)
		}
	}
	deep := strings.Repeat("{name: a, next: ", 60) + "{name: b}" + strings.Repeat("}", 60)
	if err := strictyaml.Decode("h.yaml", []byte(deep), &house{}); err != nil {
		t.Errorf("60 mappings inside one another: %v", err)
	}
}

// A type that cannot be decoded is an error for any file.
func TestUnsupportedKinds(t *testing.T) {
	for _, into := range []any{
		&struct {
			X map[string]int `yaml:"x"`
		}{}, &struct {
			X []uint8 `yaml:"x"`
		}{}, &struct {
			X *struct {
				Y any `yaml:"y"`
			} `yaml:"x"`
		}{}, &struct{ Nameless int }{},
	} {
		if err := strictyaml.Decode("h.yaml", nil, into); err == nil || !strings.HasPrefix(err.Error(), "strictyaml: ") {
			t.Errorf("%T: %v", into, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("name: a\nnext: {name: b, rooms: 1}\n"))
	f.Add([]byte("rules:\n  - rule: run_time\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		h := house{Rooms: 1, Colour: "red"}
		if strictyaml.Decode("h.yaml", text, &h) == nil && (h.Rooms < 1 || h.Rooms > 10) {
			t.Errorf("%d rooms", h.Rooms)
		}
	})
}
