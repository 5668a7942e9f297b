package mcp

import (
	"fmt"
	"os"
	"syscall"
)

// interruptible opens a file that a program was started with once more, so that closing it ends a read: Go cannot end one of a
// file that blocks. A regular file never blocks for long, and is returned as it is.
func interruptible(f *os.File) (*os.File, error) {
	info, err := f.Stat()
	if err != nil || info.Mode().IsRegular() {
		return f, err
	}
	again, err := os.OpenFile(fmt.Sprintf("/dev/fd/%d", f.Fd()), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err == nil {
		return again, nil
	}
	fd, err := syscall.Dup(int(f.Fd())) // a socket, or a pipe of another user
	if err != nil {
		return nil, err
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		syscall.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}
