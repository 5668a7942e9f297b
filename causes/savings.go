package causes

import (
	"bufio"
	"fmt"
	"os"
	"slices"

	"straggler/causes/jobcost"
	"straggler/causes/wire"
	"straggler/tempfile"
)

// savings spools, for each phase, the time saved without each cause, about 400 bytes per phase, until all phases are known and
// job costs can be computed. The temporary file is created by the first write.
type savings struct {
	file *os.File
	out  *bufio.Writer
	end  int64
	text []byte
}

// savedAt is the position of the savings of a phase in the file.
type savedAt struct {
	at    int64
	bytes int32 // 0: none
}

// add appends the savings of a phase.
func (s *savings) add(saved []jobcost.Saving) (at savedAt, err error) {
	if len(saved) == 0 {
		return at, nil
	}
	if s.file == nil {
		if s.file, err = tempfile.File("", "savings"); err != nil {
			return at, fmt.Errorf("a temporary file for savings: %w", err)
		}
		s.out = bufio.NewWriterSize(s.file, 64<<10)
	}
	data := wire.Encode((*savingsMessage)(&saved))
	if _, err := s.out.Write(data); err != nil {
		return at, fmt.Errorf("savings are written to %s; set TMPDIR to a directory that has room: %w", s.file.Name(), err)
	}
	at = savedAt{s.end, int32(len(data))}
	s.end += int64(len(data))
	return at, nil
}

// flush completes the file.
func (s *savings) flush() error {
	if s.file == nil {
		return nil
	}
	return s.out.Flush()
}

// read appends the savings of a phase to a slice, after flush.
func (s *savings) read(to []jobcost.Saving, at savedAt) ([]jobcost.Saving, error) {
	if at.bytes == 0 {
		return to, nil
	}
	s.text = slices.Grow(s.text[:0], int(at.bytes))[:at.bytes]
	if _, err := s.file.ReadAt(s.text, at.at); err != nil {
		return to, fmt.Errorf("savings: %w", err)
	}
	var saved savingsMessage
	err := wire.Decode(s.text, &saved)
	return append(to, saved...), err
}

// close frees the file.
func (s *savings) close() {
	if s.file != nil {
		s.file.Close()
	}
}

// savingsMessage encodes the savings of a phase.
type savingsMessage []jobcost.Saving

// Fields implements wire.Message.
func (m *savingsMessage) Fields(c *wire.Codec) {
	wire.Slice(c, (*[]jobcost.Saving)(m), func(s *jobcost.Saving) { s.Fields(c) })
}
