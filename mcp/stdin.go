package mcp

import (
	"fmt"
	"os"
	"syscall"
)

// interruptible reopens an inherited file such as standard input, so that closing it unblocks a read, which Go cannot do for the
// original. A regular file never blocks for long, and is returned as it is.
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
