package render

import (
	"encoding/json"
	"io"

	"straggler/audit"
)

// JSON writes the night as one object. Numbers that are unknown are null.
func JSON(w io.Writer, n *audit.Night) error { return encode(w, n) }

func encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
