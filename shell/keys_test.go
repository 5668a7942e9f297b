package shell

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// The Delete key does nothing on an empty line, and deletes on another. Other keys are passed on.
func TestDeleteKey(t *testing.T) {
	k := &keys{ReadCloser: io.NopCloser(strings.NewReader("\x1b[3~\x1b[3~se\x1b[3~"))}
	if got, err := io.ReadAll(k); string(got) != "se\x1b[3~" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	k = &keys{ReadCloser: io.NopCloser(strings.NewReader("\x1b[3~"))}
	k.OnChange([]rune("x"), 0, 'x')
	if got, err := io.ReadAll(k); string(got) != "\x1b[3~" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	k = &keys{ReadCloser: io.NopCloser(iotest.OneByteReader(strings.NewReader("\x1b[A\x04")))}
	if got, err := io.ReadAll(k); string(got) != "\x1b[A\x04" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
