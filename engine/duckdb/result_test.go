package duckdb

import (
	"errors"
	"testing"

	"straggler/store"
)

// DuckDB's errors about changed bytes in files are reported as damage of the store, and those about a statement are not.
func TestDamage(t *testing.T) {
	for msg, damaged := range map[string]bool{
		`Invalid Input Error: Failed to read file "t/a.parquet": ZSTD Decompression failure`:                             true,
		`IO Error: Could not read enough bytes from file "t/a.parquet": attempted to read 7676 bytes from location 6911`: true,
		"Invalid Error: TProtocolException: Invalid data":                                                                true,
		"Invalid Error: don't know what type: \x0e":                                                                      true,
		"Invalid Error: invalid TType":                                                                                   true,
		"Invalid Input Error: Column is corrupted":                                                                       true,
		`Binder Error: Referenced column "corrupt" not found in FROM clause!`:                                            false,
		"Conversion Error: Could not convert string 'corrupt' to INT32":                                                  false,
		`IO Error: Could not write file "/tmp/x": No space left on device`:                                               false,
		"Out of Memory Error: could not allocate block":                                                                  false,
	} {
		if err := engineError(msg); errors.Is(err, store.ErrDamaged) != damaged {
			t.Errorf("%s: %v", msg, err)
		}
	}
}
