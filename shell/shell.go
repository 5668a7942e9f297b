package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/chzyer/readline"

	"straggler/engine"
	"straggler/schema"
	"straggler/table"
)

// Options are the terminal of a shell.
type Options struct {
	In       io.ReadCloser
	Out, Err io.Writer
	History  string     // file with the history, "" for none
	Width    func() int // of the terminal

	// OnInterrupt sets what Ctrl-C does; nil sets it back to what it did before the shell.
	OnInterrupt func(func())
}

// maxRows is the number of rows shown of an answer.
const maxRows = 400

// session is one run of a shell.
type session struct {
	eng    engine.Engine
	tables []*schema.Table
	o      Options
	timing bool
}

// Run reads statements and runs them until the input ends, \q, or the end of ctx. Errors of statements are shown and do
// not end it.
func Run(ctx context.Context, eng engine.Engine, tables []*schema.Table, o Options) error {
	s := newSession(eng, tables, o)
	s.o.OnInterrupt(idle)
	defer s.o.OnInterrupt(nil)
	words := &completer{tables: tables}
	in := &keys{ReadCloser: o.In}
	editor, err := readline.NewEx(&readline.Config{Prompt: prompt, HistoryFile: o.History, HistoryLimit: 2000, HistorySearchFold: true,
		DisableAutoSaveHistory: true, AutoComplete: words, InterruptPrompt: "^C", Stdin: in, Listener: in, Stdout: o.Out, Stderr: o.Err})
	if err != nil {
		return fmt.Errorf("shell: %w", err)
	}
	defer editor.Close()
	fmt.Fprintln(o.Out, `SQL over the tables of the store: \d lists them, \? helps, \q leaves.`)
	return s.loop(ctx, editor, words)
}

// lines is the source of typed lines: readline, or a test.
type lines interface {
	SetPrompt(string)
	Readline() (string, error)
	SaveHistory(string) error
}

func (s *session) loop(ctx context.Context, in lines, words *completer) error {
	for typed := ""; ctx.Err() == nil; {
		words.before = typed
		in.SetPrompt(promptFor(typed))
		line, err := in.Readline()
		switch {
		case errors.Is(err, readline.ErrInterrupt):
			typed = ""
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("shell: %w", err)
		}
		if typed == "" && isCommand(strings.TrimSpace(line)) {
			in.SaveHistory(strings.TrimSpace(line))
			quit, err := s.command(line)
			if s.complain(err); quit {
				return nil
			}
			continue
		}
		if typed == "" {
			switch strings.ToLower(strings.TrimRight(strings.TrimSpace(line), "; ")) {
			case "exit", "quit": // as in other SQL prompts; neither begins a statement
				return nil
			case "help":
				s.command(`\?`)
				continue
			}
		}
		statements, rest := s.eng.Dialect().Split(typed + line + "\n")
		for _, sql := range statements {
			if line, ok := s.eng.Dialect().OneLine(sql); ok {
				in.SaveHistory(line + ";")
			}
			s.complain(s.answer(ctx, sql))
		}
		if typed = rest; typed != "" && !strings.HasSuffix(typed, "\n") {
			typed += "\n"
		}
	}
	return ctx.Err()
}

const prompt, promptMore = "straggler> ", "      ...> "

func promptFor(typed string) string {
	if typed == "" {
		return prompt
	}
	return promptMore
}

func (s *session) complain(err error) {
	if err != nil {
		fmt.Fprintln(s.o.Err, strings.TrimSpace(printableLines(err.Error())))
	}
}

// printableLines escapes the control characters of a message, except line breaks.
func printableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = table.Printable(lines[i])
	}
	return strings.Join(lines, "\n")
}

func (s *session) options() table.Options {
	o := table.Options{MaxRows: maxRows, Terminal: true}
	if s.o.Width != nil {
		o.MaxWidth = s.o.Width()
	}
	return o
}

var errStopped = errors.New("stopped")

// answer runs a statement and shows its rows. Ctrl-C ends the statement, not the shell.
func (s *session) answer(ctx context.Context, sql string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.o.OnInterrupt(func() { cancel(errStopped) })
	defer s.o.OnInterrupt(idle)
	began := time.Now()
	text, _ := table.Named("table")
	n, err := query(ctx, s.eng, sql, s.o.Out, text, s.options())
	if context.Cause(ctx) == errStopped {
		return errStopped
	}
	if err != nil {
		return err
	}
	plural := "s"
	if n == 1 {
		plural = ""
	}
	fmt.Fprintf(s.o.Out, "(%d row%s)\n", n, plural)
	if s.timing {
		fmt.Fprintf(s.o.Out, "%.3f s\n", time.Since(began).Seconds())
	}
	return nil
}

// query runs one statement and writes its rows.
func query(ctx context.Context, eng engine.Engine, sql string, w io.Writer, e table.Encoding, o table.Options) (int64, error) {
	rows, err := eng.Query(ctx, sql)
	if err != nil {
		return 0, err
	}
	n, err := e.Write(w, rows, o)
	return n, errors.Join(err, rows.Close())
}

func newSession(eng engine.Engine, tables []*schema.Table, o Options) *session {
	if o.OnInterrupt == nil {
		o.OnInterrupt = func(func()) {}
	}
	return &session{eng: eng, tables: tables, o: o}
}

// idle handles Ctrl-C while no statement runs: it does nothing.
func idle() {}
