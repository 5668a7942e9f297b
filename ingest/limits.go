package ingest

// Limits bound the resources that an untrusted log may use. The zero value of a field means its default.
type Limits struct {
	Line     int64 // bytes of one line; a longer one is rejected and skipped; default 64 MiB
	Input    int64 // bytes that one compressed file, or an archive with all that is in it, may decompress to; default 1 TiB
	Run      int64 // bytes that all compressed inputs of a run together may decompress to; default 16 TiB
	Ratio    int64 // decompressed bytes for each byte of an input, once 100 MiB have come out; default 1000
	Entries  int   // entries of one archive; default 1 000 000
	Depth    int   // archives within archives; default 2
	Spool    int64 // bytes that archives and streams may take in the temporary directory; default 64 GiB
	Rejects  int64 // rejected records of an input that are kept as rows; more are only counted; default 10 000
	Buffered int64 // bytes of rows that may wait until those of earlier inputs are in the store; default 64 MiB
}

// WithDefaults sets the fields that are zero.
func (l Limits) WithDefaults() Limits {
	setDefault(&l.Line, 64<<20)
	setDefault(&l.Input, 1<<40)
	setDefault(&l.Run, 16<<40)
	setDefault(&l.Ratio, 1000)
	setDefault(&l.Entries, 1_000_000)
	setDefault(&l.Depth, 2)
	setDefault(&l.Spool, 64<<30)
	setDefault(&l.Rejects, 10_000)
	setDefault(&l.Buffered, 64<<20)
	return l
}

func setDefault[T int | int64](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}
