// Command sbom takes a Go program and writes its bill of materials, from what the compiler put into it: the modules that it
// is linked from, with the hashes of go.sum, in the form of CycloneDX 1.5.
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom PROGRAM VERSION")
		os.Exit(2)
	}
	if err := write(os.Stdout, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// bill is a document of CycloneDX 1.5 (ECMA-424), as far as it is needed.
type bill struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func write(w io.Writer, program, version string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	b := bill{Format: "CycloneDX", Spec: "1.5", Version: 1}
	b.Metadata.Component = component{Type: "application", Ref: info.Main.Path, Name: info.Main.Path, Version: version}
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS", "GOARCH", "CGO_ENABLED", "vcs.revision", "vcs.modified":
			b.Metadata.Component.Properties = append(b.Metadata.Component.Properties, property{"go:build:" + s.Key, s.Value})
		}
	}
	b.Components = append(b.Components,
		component{Type: "library", Ref: "std", Name: "std", Version: strings.TrimPrefix(info.GoVersion, "go"),
			PURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")})
	for _, m := range info.Deps {
		c, err := library(m)
		if err != nil {
			return err
		}
		b.Components = append(b.Components, c)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(b)
}

// library returns a module; the hash is that of its files (golang.org/x/mod/sumdb/dirhash), which is none of CycloneDX's own.
func library(m *debug.Module) (component, error) {
	if m.Replace != nil {
		m = m.Replace
	}
	c := component{Type: "library", Ref: m.Path + "@" + m.Version, Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path + "@" + m.Version}
	if sum, ok := strings.CutPrefix(m.Sum, "h1:"); ok {
		raw, err := base64.StdEncoding.DecodeString(sum)
		if err != nil {
			return c, fmt.Errorf("%s has the sum %q: %w", m.Path, m.Sum, err)
		}
		c.Properties = []property{{"go:sum:h1", hex.EncodeToString(raw)}}
	}
	return c, nil
}
