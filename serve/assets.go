package serve

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"straggler/report/html"
)

//go:embed serve.css
var styleText string

//go:embed serve.js
var scriptText string

//go:embed console.js
var consoleText string

//go:embed replays.js
var replaysText string

//go:embed running.js
var runningText string

//go:embed timeline.js
var timelineText string

// assetText returns the content of a file that pages load, or "" if there is none of that name.
func assetText(name string) string {
	switch name {
	case "style.css":
		return html.Style() + styleText
	case "report.js":
		return html.Script()
	case "serve.js":
		return scriptText
	case "console.js":
		return consoleText
	case "replays.js":
		return replaysText
	case "running.js":
		return runningText
	case "timeline.js":
		return timelineText
	}
	return ""
}

// assetPath returns the address of such a file. It contains a hash of the content, so that browsers can cache it for ever.
func assetPath(name string) string {
	sum := sha256.Sum256([]byte(assetText(name)))
	return "/static/" + name + "?v=" + hex.EncodeToString(sum[:6])
}

// scripts returns the addresses of the scripts that all pages load, and of more.
func scripts(more []string) []string {
	paths := []string{assetPath("report.js"), assetPath("serve.js")}
	for _, name := range more {
		paths = append(paths, assetPath(name))
	}
	return paths
}

// asset serves such a file.
func (s *Server) asset(w http.ResponseWriter, r *http.Request) {
	text := assetText(r.PathValue("name"))
	if text == "" {
		s.noPage(w, r)
		return
	}
	if r.FormValue("v") != "" {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	http.ServeContent(w, r, r.PathValue("name"), time.Time{}, strings.NewReader(text))
}
