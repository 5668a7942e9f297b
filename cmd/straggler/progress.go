package main

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"

	"straggler/ingest/run"
	"straggler/store"
	"straggler/table"
)

// spinner is shown on a terminal during a step.
type spinner struct {
	bar  *progressbar.ProgressBar
	what string
}

// step shows the current step on a terminal until done is called.
func (e *env) step(what string) (done func()) {
	if !e.errTerminal {
		return func() {}
	}
	bar := progressbar.NewOptions(-1, progressbar.OptionSetWriter(e.err), progressbar.OptionSetDescription(what),
		progressbar.OptionSpinnerType(14), progressbar.OptionClearOnFinish(), progressbar.OptionSetElapsedTime(true))
	before := e.now.Swap(&spinner{bar, what})
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				bar.Add(1)
			case <-stop:
				bar.Finish()
				return
			}
		}
	}()
	var once sync.Once
	return func() { once.Do(func() { close(stop); <-ended; e.now.Store(before) }) }
}

// largeTransfer is the size in bytes from which a transfer is announced without a terminal.
const largeTransfer = 100 << 20

// transfers shows the progress of files copied from or to a bucket: next to the current step, or as a bar. Without a
// terminal it announces large transfers only.
func (e *env) transfers() func(store.Transfer) {
	var mu sync.Mutex
	var bar *progressbar.ProgressBar
	return func(t store.Transfer) {
		mu.Lock()
		defer mu.Unlock()
		begins, ends := t.Done == 0, t.Done >= t.Bytes
		amount := fmt.Sprintf("%s %s of %s", t.What, humanize.Bytes(uint64(max(t.Done, 0))), humanize.Bytes(uint64(t.Bytes)))
		now := e.now.Load()
		switch {
		case !e.errTerminal:
			if begins && t.Bytes >= largeTransfer {
				e.say("%s %s, %s", t.What, count(t.Files, "file"), humanize.Bytes(uint64(t.Bytes)))
			}
		case now != nil && ends:
			now.bar.Describe(now.what)
		case now != nil:
			now.bar.Describe(now.what + ", " + amount)
		case ends:
			if bar != nil {
				bar.Clear()
				bar = nil
			}
		default:
			if bar == nil {
				bar = progressbar.NewOptions64(t.Bytes, progressbar.OptionSetWriter(e.err), progressbar.OptionShowBytes(true),
					progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetWidth(24),
					progressbar.OptionClearOnFinish(), progressbar.OptionSetDescription(t.What))
			}
			bar.Set64(t.Done)
		}
	}
}

// countBar shows the number of finished pieces of work. show is nil without a terminal; goroutines must not call it
// concurrently.
func (e *env) countBar(what string) (show func(done, of int), end func()) {
	if !e.errTerminal {
		return nil, func() {}
	}
	bar := progressbar.NewOptions(-1, progressbar.OptionSetWriter(e.err), progressbar.OptionSetDescription(what),
		progressbar.OptionSetWidth(24), progressbar.OptionShowCount(), progressbar.OptionClearOnFinish())
	return func(done, of int) {
		bar.ChangeMax(of)
		bar.Set(done)
	}, func() { bar.Clear() }
}

// readingBar shows the progress of an ingest: bytes, rate, time left. show is nil without a terminal.
func (e *env) readingBar() (show func(run.Progress), done func()) {
	if !e.errTerminal {
		return nil, func() {}
	}
	var bar *progressbar.ProgressBar
	total := int64(-1)
	show = func(p run.Progress) {
		want := int64(-1) // unknown
		if p.Total > 0 {
			want = p.Total
		}
		if bar == nil || want != total {
			total = want
			if bar != nil {
				bar.Clear()
			}
			bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(e.err), progressbar.OptionShowBytes(true),
				progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetWidth(24),
				progressbar.OptionClearOnFinish())
		}
		bar.Describe(fmt.Sprintf("reading %d of %d", p.Done, p.Inputs))
		bar.Set64(p.Bytes)
	}
	return show, func() {
		if bar != nil {
			bar.Clear()
		}
	}
}

// pipePatience is how long a pipe may be silent before the user is told that the program waits for it.
const pipePatience = 2 * time.Second

// sayWaiting wraps show, and tells the user once if the pipes among the logs are silent: opening a named pipe blocks until
// another program opens it too.
func (e *env) sayWaiting(logs []string, show func(run.Progress)) func(run.Progress) {
	var pipes []string
	for _, name := range logs {
		if name == "-" {
			pipes = append(pipes, "standard input")
		} else if info, err := os.Stat(name); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
			pipes = append(pipes, name)
		}
	}
	if len(pipes) == 0 {
		return show
	}
	began, told := time.Now(), false
	return func(p run.Progress) {
		if told = told || p.Bytes > 0; !told && time.Since(began) > pipePatience {
			told = true
			e.say("waiting for a program that writes to %s; Ctrl-C ends", table.Printable(strings.Join(pipes, " and ")))
		}
		if show != nil {
			show(p)
		}
	}
}

// count returns a number with its noun.
func count[N int | int64](n N, noun string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
