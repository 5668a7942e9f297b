package shell

import (
	"bytes"
	"io"
	"sync/atomic"
)

// deleteKey is what a terminal sends for the Delete key.
var deleteKey = []byte("\x1b[3~")

// keys is the input of a terminal without the Delete key on an empty line: readline takes it for Ctrl-D, which ends the shell.
type keys struct {
	io.ReadCloser
	typed atomic.Bool // the line is not empty
}

func (k *keys) Read(p []byte) (int, error) {
	for {
		n, err := k.ReadCloser.Read(p)
		rest := p[:n]
		for !k.typed.Load() && bytes.HasPrefix(rest, deleteKey) {
			rest = rest[len(deleteKey):]
		}
		if kept := copy(p, rest); kept > 0 || n == 0 || err != nil {
			return kept, err
		}
	}
}

// OnChange is called by readline after each key.
func (k *keys) OnChange(line []rune, pos int, _ rune) ([]rune, int, bool) {
	k.typed.Store(len(line) > 0)
	return line, pos, false
}
