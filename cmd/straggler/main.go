package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"

	"straggler/store"
)

// The exit codes.
const (
	exitDone        = 0
	exitFound       = 1   // the check found something
	exitUse         = 2   // wrong use
	exitInput       = 3   // input could not be read, what could be is in the store; or a store changed while it was read
	exitInternal    = 4   // internal error, or a disk that is full or read-only
	exitInterrupted = 130 // by Ctrl-C or a signal to end
	exitUnread      = 141 // who read standard output has stopped, as head does; shells give this code for SIGPIPE
)

func main() { os.Exit(program()) }

// program runs the command line and returns the exit code.
func program() (code int) {
	e := newEnv()
	defer func() { // a panic would exit with 2, which means wrong use
		if p := recover(); p != nil {
			fmt.Fprintf(e.err, "straggler: internal error, please report it: %v\n%s", p, debug.Stack())
			code = exitInternal
		}
	}()
	signal.Ignore(syscall.SIGPIPE) // which would end the program before temporary files are removed
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer func() { signal.Stop(signals); close(signals) }()
	var interrupted atomic.Bool
	go func() {
		for s := range signals {
			if handle := e.onInterrupt.Load(); s == os.Interrupt && handle != nil {
				(*handle)()
				continue
			}
			interrupted.Store(true)
			signal.Stop(signals) // a second one ends the program at once
			cancel()
			return
		}
	}()
	verb, err := newRoot(e).ExecuteContextC(ctx)
	if err != nil && !e.running && !errors.Is(err, errUse) {
		err = useError("%s; write it as %q; see %s --help", plainUse(err), verb.UseLine(), verb.CommandPath())
	}
	if stopsReading(err) {
		return exitUnread
	}
	if err != nil && interrupted.Load() {
		fmt.Fprintln(e.err, "straggler: interrupted")
		return exitInterrupted
	}
	if err != nil {
		fmt.Fprintln(e.err, "straggler: "+oneMessage(err))
		time.Sleep(e.lingers)
	}
	return exitCode(err)
}

// env is the environment of a verb.
type env struct {
	in          *os.File
	out, err    *os.File
	outTerminal bool
	errTerminal bool
	color       bool
	server      string                  // where SQL runs, "" is this process
	cache       string                  // directory for copies of a bucket's files, "" is the default
	now         atomic.Pointer[spinner] // the current step
	made        *store.Store            // that the verb writes to and may have created
	running     bool                    // the command line was valid and a verb has begun
	lingers     time.Duration           // after the message of an error, before the process ends
	onInterrupt atomic.Pointer[func()]  // handles Ctrl-C; nil ends the program
}

func newEnv() *env {
	e := &env{in: os.Stdin, out: os.Stdout, err: os.Stderr}
	e.outTerminal = term.IsTerminal(int(os.Stdout.Fd()))
	e.errTerminal = term.IsTerminal(int(os.Stderr.Fd()))
	e.color = e.outTerminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return e
}

// width returns the width of the terminal in columns, or 0 if there is none.
func (e *env) width() int {
	if !e.outTerminal {
		return 0
	}
	w, _, err := term.GetSize(int(e.out.Fd()))
	if err != nil {
		return 0
	}
	return w
}

// say writes a message to standard error.
func (e *env) say(format string, args ...any) { fmt.Fprintf(e.err, format+"\n", args...) }
