package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"straggler/store"
)

// A failing writer is reported once, although both writing and flushing fail.
func TestFullDiskIsReportedOnce(t *testing.T) {
	r, pipe := io.Pipe()
	r.CloseWithError(fmt.Errorf("write out.html: %w", syscall.ENOSPC))
	w := bufio.NewWriterSize(pipe, 16)
	_, err := io.WriteString(w, strings.Repeat("x", 40))
	text := oneMessage(errors.Join(fmt.Errorf("report: writing HTML: %w", err), w.Flush()))
	if n := strings.Count(text, "no space left"); n != 1 || !strings.HasPrefix(text, "report: writing HTML") || !strings.Contains(text, "The disk is full") {
		t.Error(text)
	}
}

func TestDiskErrorsAreNotWrongUse(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS} {
		err := useError("%w", &fs.PathError{Op: "mkdir", Path: "straggler-demo", Err: errno})
		if code := exitCode(err); code != exitInternal || !strings.Contains(oneMessage(err), "disk is") {
			t.Errorf("exit code %d: %s", code, oneMessage(err))
		}
	}
}

// A script that finds a store changed by another process can tell that from a defect, and repeats the command.
func TestChangedStoreIsNoInternalError(t *testing.T) {
	if code := exitCode(fmt.Errorf("detect: %w; try again", store.ErrConflict)); code != exitInput {
		t.Error(code)
	}
}
