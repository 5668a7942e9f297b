package read

import (
	"context"

	"straggler/ingest"
	"straggler/schema"
)

// EachLine passes the lines of a part to take. An error from take ends it.
func EachLine(ctx context.Context, p ingest.Part, out *ingest.Sink, take func(Line) error) error {
	r, err := p.Open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	lines := NewLines(r, p.Name, out)
	for line := range lines.All() {
		if line.Number%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := take(line); err != nil {
			return err
		}
	}
	return lines.Err()
}

// LineReject returns the reject of a line of a part.
func LineReject(p ingest.Part, line Line, reason string) schema.Reject {
	return schema.Reject{
		SourceFile: p.Name, Line: schema.Some(line.Number), ByteOffset: line.Offset, Reason: reason,
		Sample: string(line.Data[:min(len(line.Data), ingest.SampleBytes)]),
	}
}

// RejectLine rejects a line of a part.
func RejectLine(out *ingest.Sink, p ingest.Part, line Line, reason string) {
	out.Reject(LineReject(p, line, reason))
}
