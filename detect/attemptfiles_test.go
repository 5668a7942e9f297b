package detect

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/engine/enginetest"
	"straggler/parquetfile"
	"straggler/schema"
	"straggler/store"
)

// A damaged file of attempts ends a run with what is damaged and what to do, and nothing is committed.
func TestDamagedAttempts(t *testing.T) {
	for what, damage := range map[string]func([]byte) []byte{
		"a page": func(b []byte) []byte {
			for i := range len(b) / 2 {
				b[i] ^= 0x55
			}
			return b
		},
		"the footer": func(b []byte) []byte {
			b[len(b)-12] ^= 0x55
			b[len(b)-20] ^= 0x55
			return b
		},
		"the number of rows": func(b []byte) []byte {
			m, err := parquetfile.ReadMetadata(bytes.NewReader(b), int64(len(b)))
			if err != nil {
				t.Fatal(err)
			}
			m.RowGroups[0].Rows = 1 << 60
			length := 8 + int(binary.LittleEndian.Uint32(b[len(b)-8:]))
			for { // the file's size is compared with its commit
				footer, err := m.Footer()
				if err != nil {
					t.Fatal(err)
				}
				if len(footer) <= length {
					return append(b[:len(b)-length], footer...)
				}
				m.CreatedBy = m.CreatedBy[1:]
			}
		},
	} {
		dir := t.TempDir()
		st, err := store.Open(t.Context(), dir, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		m := newMade()
		m.phase(10, 11, 12, 40)
		logs := enginetest.NewLogs(st)
		logs.Ingest(t, map[schema.Key]*schema.Trace{1: owned(1, &m.Trace)})
		eng, err := engines.Open(t.Context(), st, engine.Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer eng.Close()
		files, err := os.ReadDir(dir + "/tables/attempts")
		if err != nil || len(files) != 1 {
			t.Fatalf("%d files: %v", len(files), err)
		}
		name := dir + "/tables/attempts/" + files[0].Name()
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, damage(data), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = Run(t.Context(), st, eng, Options{})
		if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), files[0].Name()) || !strings.Contains(err.Error(), "straggler store verify") {
			t.Errorf("with %s damaged: %v", what, err)
		}
	}
}
