package strictyaml_test

import (
	"errors"
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
}

// What is wrong is said with its place.
func TestErrorsNameTheirPlace(t *testing.T) {
	for text, want := range map[string]string{
		"name: a\nroms: 3\n":              `h.yaml:2:1: there is no "roms" here; there is name, rooms, colour, doors, next`,
		"name: a\nrooms: 11\n":            "h.yaml:2:8: 11 is not between 1 and 10",
		"name: a\nrooms: many\n":          `h.yaml:2:8: "many" is no number that fits here`,
		"name: a\nname: b\n":              `h.yaml:2:1: "name" stands here twice`,
		"name: a\ncolour: green\n":        "h.yaml:2:9: neither red nor blue",
		"name: a\ndoors:\n  - 1\n  - 4\n": "h.yaml:4:5: 4 is not between 0 and 3",
		"rooms: 2\n":                      "h.yaml:1:1: name is missing",
		"name: a\nnext: {rooms: 2}\n":     "h.yaml:2:7: name is missing",
		"name: [a]\n":                     "h.yaml:1:7: here is one value and not a list",
		"- a\n":                           "h.yaml:1:1: here are names with values",
		"name: &x a\nnext: {name: *x}\n":  "h.yaml:2:14: aliases are not read here",
		"name: a\n\tb: c\n":               "h.yaml: yaml: line 2",
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
