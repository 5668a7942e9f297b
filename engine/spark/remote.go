package spark

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"straggler/engine"
	"straggler/engine/spark/hs2"
	"straggler/store"
)

// rowFormat is the format of rows to and from copies of this program.
const rowFormat = `ROW FORMAT DELIMITED FIELDS TERMINATED BY '\t' LINES TERMINATED BY '\n' NULL DEFINED AS '\\N'`

func (e *Engine) RunRemote(ctx context.Context, job engine.RemoteJob) (*engine.Rows, error) {
	if e.o.Locked {
		return nil, fmt.Errorf("spark: %w: a locked engine runs no programs", engine.ErrStatement)
	}
	command, err := e.command(job.Verb)
	if err != nil {
		return nil, err
	}
	var file io.Closer
	if job.File != nil {
		where, err := e.StoreAddress()
		if err != nil {
			return nil, err
		}
		staged, err := e.st.Stage(ctx, job.File)
		if err != nil {
			return nil, err
		}
		command, file = command+" "+shellText(store.AddressOf(where, staged.Name)), staged
	}
	sql := remoteSQL(&job, command)
	var r *result
	err = e.withReconnect(ctx, job.SQL, func() (err error) {
		r, err = e.start(ctx, sql)
		return err
	})
	if err != nil {
		if file != nil {
			file.Close()
		}
		return nil, e.remoteError(err)
	}
	r.file = file
	return r.rows(ctx), nil
}

// remoteSQL returns the statement that runs the copies. Lines of rows are built before TRANSFORM, because its own casts are
// interpreted value by value, whereas those of a query are compiled. The output of the copies is shuffled to one task: a server
// that fetches results incrementally would otherwise run one copy after the other. That task reads the lines of one attempt of
// each copy, however often the copy was run.
func remoteSQL(job *engine.RemoteJob, command string) string {
	columns, parts := strings.Join(job.Columns, ", "), max(1, job.Partitions)
	values := make([]string, len(job.Columns))
	for i, name := range job.Columns {
		values[i] = fmt.Sprintf("coalesce(CAST(%s AS STRING), %s)", name, quoteText(engine.RemoteNull))
	}
	return fmt.Sprintf(`SELECT CAST(key AS BIGINT) AS key, output FROM (
SELECT /*+ REPARTITION(1) */ key, output FROM (
SELECT TRANSFORM (line) %s USING %s AS (key STRING, output STRING) %s FROM (
SELECT concat_ws(%s, %s) AS line FROM (
SELECT /*+ REPARTITION(%d, %s) */ %s FROM (%s) AS input SORT BY %s
) AS parts
) AS lines
) AS outputs
) AS together ORDER BY key NULLS LAST`, rowFormat, quoteText(command), rowFormat, quoteText(engine.RemoteSeparator), strings.Join(values, ", "),
		parts, job.Columns[0], columns, portable(job.SQL), job.Order)
}

// command returns the shell command for this program on the cluster's machines.
func (e *Engine) command(verb []string) (string, error) {
	binary := e.server.binary
	if binary == "" {
		own, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("spark: %w; name this program on the cluster's machines with ?binary=PATH", err)
		}
		binary = own
	}
	words := []string{shellText(binary)}
	for _, w := range verb {
		words = append(words, shellText(w))
	}
	return strings.Join(words, " "), nil
}

func shellText(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// StoreAddress returns the address of the store in the server's address, or that of this process. A bucket has the same address
// everywhere; the one in the server's address is Spark's name for it.
func (e *Engine) StoreAddress() (string, error) {
	own := e.st.Address()
	scheme, _, isURL := strings.Cut(own, "://")
	at := strings.TrimPrefix(strings.TrimPrefix(e.server.storeURL, "file://"), "file:")
	switch {
	case e.server.results == resultsServer:
		return "", fmt.Errorf("spark: results=%s: %w", resultsServer, errors.ErrUnsupported)
	case at == "" || isURL && scheme != "file":
		return own, nil
	case strings.HasPrefix(at, "/") && isURL:
		return scheme + "://" + at, nil
	case strings.HasPrefix(at, "/"):
		return at, nil
	}
	return "", fmt.Errorf("spark: %s is not a directory that programs can open: %w", at, errors.ErrUnsupported)
}

// remoteError explains why copies of this program failed.
func (e *Engine) remoteError(err error) error {
	var refused *hs2.StatementError
	if !errors.As(err, &refused) {
		return err
	}
	binary := e.server.binary
	if binary == "" {
		binary, _ = os.Executable()
	}
	if strings.Contains(refused.Text, "exited with status 127") || strings.Contains(refused.Text, "exited with status 126") {
		return fmt.Errorf("spark: %w: its cluster's machines have no program %s: put straggler where all of them see it and add ?binary=PATH to the address of the server (%w)", engine.ErrServer, binary, err)
	}
	if _, message, ok := strings.Cut(refused.Text, "straggler: "); ok {
		message, _, _ = strings.Cut(message, "\n")
		return fmt.Errorf("spark: straggler on the cluster: %s (%w)", message, err)
	}
	return err
}
