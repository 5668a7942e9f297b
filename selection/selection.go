// Package selection takes an id or a name and a time, as users give them, and returns the applications of a store that they select
// (applications.sql), the inputs that these were read from (inputs.go), and their rejected records (rejects.sql).
//
// Start with Applications.
package selection

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"straggler/engine"
	"straggler/schema"
)

//go:embed applications.sql
var applicationsSQL string

// Applications selects applications of a store. The zero value selects all.
type Applications struct {
	Key   schema.Key               // the one with it; 0 for any
	Named string                   // by the native id, or the name; empty for any
	Since schema.Null[schema.Time] // those that started then or later; where a log does not say, their first job
}

// ErrNone is returned when no application of the store is meant.
var ErrNone = errors.New("no such application")

// All reports whether all applications are meant.
func (a Applications) All() bool { return a == Applications{} }

// Keys returns the keys of those that are meant, in order. The comparison is made here and not in SQL, because engines differ in
// how they read a quoted text.
func (a Applications) Keys(ctx context.Context, eng engine.Engine) ([]schema.Key, error) {
	type application struct {
		Key      schema.Key               `col:"application_id"`
		NativeID string                   `col:"native_id"`
		Name     schema.Null[string]      `col:"name"`
		Began    schema.Null[schema.Time] `col:"began"`
	}
	var keys []schema.Key
	for x, err := range engine.Read[application](ctx, eng, applicationsSQL) {
		if err != nil {
			return nil, err
		}
		if (a.Key == 0 || x.Key == a.Key) && (a.Named == "" || x.NativeID == a.Named || x.Name.OK && x.Name.V == a.Named) &&
			(!a.Since.OK || x.Began.OK && x.Began.V >= a.Since.V) {
			keys = append(keys, x.Key)
		}
	}
	if len(keys) == 0 && !a.All() {
		return nil, fmt.Errorf("%s: %w; straggler sql --store DIR 'SELECT native_id, name, start_time FROM applications' lists them", a, ErrNone)
	}
	return keys, nil
}

// String describes the selection for messages.
func (a Applications) String() string {
	var parts []string
	if a.Key != 0 {
		parts = append(parts, fmt.Sprintf("application_id %d", a.Key))
	}
	if a.Named != "" {
		parts = append(parts, fmt.Sprintf("%.80q", a.Named))
	}
	if a.Since.OK {
		parts = append(parts, "since "+time.UnixMicro(int64(a.Since.V)).UTC().Format("2006-01-02 15:04:05"))
	}
	return strings.Join(parts, ", ")
}

// ParseSince reads a day, or a day and a time, in UTC where it names no zone.
func ParseSince(text string) (schema.Null[schema.Time], error) {
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", time.DateTime, "2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339Nano} {
		if t, err := time.Parse(layout, text); err == nil {
			return schema.Some(schema.Time(t.UnixMicro())), nil
		}
	}
	return schema.Null[schema.Time]{}, fmt.Errorf("%.40q is not a date: write 2026-11-22, or '2026-11-22 18:30' (UTC), or 2026-11-22T18:30:00+01:00", text)
}
