package audit

import (
	"encoding/json"
	"io"
)

// JSON writes the night as one object. Numbers that are unknown are null.
func JSON(w io.Writer, n *Night) error { return encode(w, n) }

func encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
