package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"straggler/audit"
	"straggler/audit/baseline"
	"straggler/audit/measure"
	"straggler/bucket"
	"straggler/bucket/location"
	"straggler/causes"
	"straggler/detect"
	"straggler/engine"
	"straggler/export"
	"straggler/generate"
	"straggler/ingest"
	"straggler/ingest/discover"
	"straggler/ingest/run"
	"straggler/live"
	"straggler/live/rest"
	"straggler/report"
	"straggler/schema/synth"
	"straggler/selection"
	"straggler/serve"
	"straggler/store"
	"straggler/table"
	"straggler/whatif"
	"straggler/whatif/policy"
	"straggler/whatif/schedule"
	"straggler/whatif/workload"
)

var (
	// errUse is returned for a wrong command line.
	errUse = errors.New("wrong use")
	// errUnread is returned when a part of the input could not be read.
	errUnread = errors.New("input could not be read")
	// errUnlawful is returned when rows of a store break a law.
	errUnlawful = errors.New("the rows break laws")
)

func useError(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errUse}, args...)...)
}

// stopsReading reports whether an error means that standard output was closed by its reader, which is not a failure.
func stopsReading(err error) bool {
	var at *fs.PathError
	return errors.Is(err, syscall.EPIPE) && errors.As(err, &at) && at.Path == os.Stdout.Name()
}

// wrongUse lists the errors about a command line, or about a configuration file that it names.
var wrongUse = []error{
	errUse, errors.ErrUnsupported,
	audit.ErrConfig, audit.ErrNoFinding, baseline.ErrChanged, measure.ErrGrouping,
	causes.ErrNotDetected, detect.ErrReplaces, detect.ErrShared,
	discover.ErrUnknownFormat, ingest.ErrUse, location.ErrURL,
	engine.ErrStatement, engine.ErrUnknown,
	export.ErrEncoding, export.ErrExists,
	generate.ErrNoTasks, generate.ErrScenario, generate.ErrTooLarge, synth.ErrOptions,
	policy.ErrChoice, policy.ErrLacks, schedule.ErrChoice, schedule.ErrLacks, whatif.ErrNoCauses, whatif.ErrNotSpark, workload.ErrFile,
	report.ErrNoRow, rest.ErrCredentials, rest.ErrURL, selection.ErrNone, serve.ErrAddress, serve.ErrExposed,
	store.ErrNoCommit, store.ErrNotStore,
}

// badInput are the errors about logs, stores and servers that could not be read.
var badInput = []error{
	errUnread, errUnlawful,
	baseline.ErrUnreadable, engine.ErrServer,
	live.ErrAway, live.ErrGone, rest.ErrForbidden,
	run.ErrNothingToRead, run.ErrUnreadable,
	store.ErrCache, store.ErrConflict, store.ErrDamaged, store.ErrNewer,
}

// exitCode returns the exit code of an error.
func exitCode(err error) int {
	is := func(kinds ...error) bool {
		for _, kind := range kinds {
			if errors.Is(err, kind) {
				return true
			}
		}
		return false
	}
	var fault *bucket.Fault
	switch {
	case err == nil:
		return exitDone
	case is(errFound):
		return exitFound
	case is(context.Canceled):
		return exitInterrupted
	case is(syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS):
		return exitInternal
	case noTemp(err):
		return exitUse
	case is(wrongUse...):
		return exitUse
	case is(badInput...):
		return exitInput
	case errors.As(err, &fault):
		return exitInput
	}
	return exitInternal
}

// oneMessage returns the text of an error for a terminal, without lines that repeat the end of an earlier one: when a writer
// fails, both writing and flushing report it.
func oneMessage(err error) string {
	var lines []string
	text := strings.ReplaceAll(err.Error(), errUse.Error()+": ", "") + "\n" + aboutDisk(err)
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		line = table.Printable(line)
		if !slices.ContainsFunc(lines, func(earlier string) bool { return strings.HasSuffix(earlier, line) }) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// noTemp reports whether an error means that the directory for temporary files does not exist.
func noTemp(err error) bool {
	var at *fs.PathError
	return errors.As(err, &at) && errors.Is(at, fs.ErrNotExist) && at.Path == os.TempDir()
}

// aboutDisk returns the remedy for a disk error of this machine, or "" for other errors.
func aboutDisk(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return "The disk is full. Free some space, or name another disk with --store, -o, --cache or TMPDIR, and repeat the command; the store is intact."
	case noTemp(err):
		return "It is the directory for temporary files, which TMPDIR names: make it, or name another one."
	case errors.Is(err, syscall.EROFS):
		return "The disk is read-only. Name another one with --store, -o, --cache or TMPDIR."
	case errors.Is(err, syscall.EACCES):
		return "You have no permission for it. Name another place with --store, -o, --cache or TMPDIR, or ask its owner."
	}
	return ""
}
