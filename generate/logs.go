package generate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"straggler/generate/sparklog"
	"straggler/schema/synth"
)

// ToLog writes a trace as a Spark event log of one application, uncompressed: one with the jobs of all applications, if the
// options have several. The truth is written as JSON; nil omits it.
func ToLog(ctx context.Context, w io.Writer, o synth.Options, lo sparklog.Options, truth io.Writer) (Made, error) {
	o.Shape.Jobs *= max(1, o.Applications)
	o.Applications = 1
	l := newLogWriter(w, truth, &o, lo)
	err := synth.Events(ctx, o, l.event)
	if err == nil {
		err = l.close()
	}
	if err != nil {
		return l.made, fmt.Errorf("generate: %w", err)
	}
	return l.made, nil
}

// logWriter writes the log of one application, and its truth.
type logWriter struct {
	made    Made
	count   *counter
	log     *sparklog.Writer
	truth   *truthJSON
	truthTo io.Writer // nil: no truth
}

func newLogWriter(w, truth io.Writer, o *synth.Options, lo sparklog.Options) *logWriter {
	l := &logWriter{made: Made{Applications: 1}, count: &counter{w: bufio.NewWriterSize(w, 64<<10)}, truth: newTruth(o), truthTo: truth}
	l.log = sparklog.NewWriter(l.count, lo)
	return l
}

func (l *logWriter) event(e *synth.Event) error {
	if e.Kind == synth.AttemptEnded {
		l.made.Attempts++
	}
	if l.truthTo != nil {
		l.truth.event(e)
	}
	return l.log.Event(e)
}

// close writes what is left, and the truth. It does not close the writers below.
func (l *logWriter) close() error {
	err := l.log.Close()
	if err == nil {
		err = l.count.w.Flush()
	}
	if err == nil && l.truthTo != nil {
		err = l.truth.write(l.truthTo)
	}
	l.made.Bytes = l.count.n
	return err
}

// ToLogs writes the applications of a scenario for each of n consecutive seeds starting from the options'. Each is written to a
// directory of its own under dir, with a Spark event log and its truth.json: the layout of labelled logs.
func ToLogs(ctx context.Context, dir string, n int, o synth.Options, lo sparklog.Options) (Made, error) {
	var all Made
	first := o.Seed
	for i := range n {
		o.Seed = first + uint64(i)
		if err := toLabelled(ctx, dir, o, lo, &all); err != nil {
			return all, fmt.Errorf("generate: %w", err)
		}
	}
	return all, nil
}

// toLabelled writes the applications of one seed, and adds them to what was made.
func toLabelled(ctx context.Context, dir string, o synth.Options, lo sparklog.Options, made *Made) error {
	var log *labelledLog
	end := func() (err error) {
		if log != nil {
			err = log.close()
			made.Applications++
			made.Attempts += log.made.Attempts
			made.Bytes += log.made.Bytes
			log = nil
		}
		return err
	}
	err := synth.Events(ctx, o, func(e *synth.Event) error {
		if e.Kind == synth.ApplicationStarted {
			if err := end(); err != nil {
				return err
			}
			name := fmt.Sprintf("%s-%d", o.Scenario, o.Seed)
			if o.Applications > 1 {
				name = fmt.Sprintf("%s-%04d", name, made.Applications%int64(o.Applications))
			}
			var err error
			if log, err = newLabelledLog(filepath.Join(dir, name), e.Application.NativeID, &o, lo); err != nil {
				return err
			}
		}
		return log.event(e)
	})
	return errors.Join(err, end())
}

// labelledLog is a logWriter into files that it made.
type labelledLog struct {
	*logWriter
	files [2]*os.File
}

func newLabelledLog(dir, application string, o *synth.Options, lo sparklog.Options) (*labelledLog, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, application))
	if err != nil {
		return nil, err
	}
	truth, err := os.Create(filepath.Join(dir, "truth.json"))
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return &labelledLog{newLogWriter(log, truth, o, lo), [2]*os.File{truth, log}}, nil
}

func (l *labelledLog) close() error {
	return errors.Join(l.logWriter.close(), l.files[0].Close(), l.files[1].Close())
}
