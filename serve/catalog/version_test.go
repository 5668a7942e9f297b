package catalog

import (
	"testing"

	"straggler/engine"
	"straggler/store"
)

// Unless its memory is set, all engines of a catalog together use three quarters of the machine's.
func TestEnginesShareTheMemory(t *testing.T) {
	st, err := store.Temp(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	c, err := Open(t.Context(), Options{Store: st, Shown: st, Fixed: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	together := int64(0)
	for _, p := range []*pool{c.now.pages, c.now.lookups, c.now.users} {
		if p.o.MemoryBytes <= 0 {
			t.Error("an engine without a bound takes what it finds")
		}
		together += int64(cap(p.free)) * p.o.MemoryBytes
	}
	if most := max(engine.Memory()/4*3, 3<<30); together > most {
		t.Errorf("%d bytes of %d", together, most)
	}
}
