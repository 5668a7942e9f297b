package tez

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"straggler/ingest"
	"straggler/ingest/read"
)

// Format returns the format of the history of Tez applications.
func Format() ingest.Format {
	return ingest.Format{
		Name: "tez",
		Doc:  "Apache Tez histories: history.txt, protobuf SequenceFiles, timeline server exports (zip)",
		Detail: `A DAG is a job, a vertex is a phase, a task attempt is an attempt. Input is the shuffled bytes plus those read from file systems
other than the local one; shuffled bytes that were read directly from disk count as local. Times are those of the last finish
event. An attempt that ends with OUTPUT_LOST had succeeded: it remains a success and its output is a loss; the next attempt of the
task, with its creationCausalAttempt, tells who recomputed the output and who noticed the loss. Speculative copies are recognised
by the error of the attempt that lost. Racks and fetch wait are not in the history.`,
		Experimental: "no real file was available; the layouts follow Tez's source",
		Claim:        claim,
		Sniff:        sniff,
		Instead:      instead,
		Read:         readLog,
	}
}

// claim groups the parts of a timeline export: dag.json, vertices_part_0.json, …
func claim(dir ingest.Dir) []ingest.Group {
	var g ingest.Group
	attempts := false
	for _, name := range dir.Names {
		if !strings.HasSuffix(name, ".json") {
			continue
		}
		for _, prefix := range []string{"dag", "tez_app", "tez_dag", "vertices", "tasks", "task_attempts"} {
			if strings.HasPrefix(name, prefix) {
				g.Names = append(g.Names, name)
				attempts = attempts || strings.HasPrefix(name, "task_attempts")
				break
			}
		}
	}
	if !attempts {
		return nil
	}
	return []ingest.Group{g}
}

func sniff(h ingest.Head) ingest.Match {
	b := h.Bytes
	if bytes.HasPrefix(b, []byte("SEQ")) {
		if bytes.Contains(b[:min(len(b), 512)], []byte("org.apache.tez.dag.history.logging.proto")) {
			return ingest.Match{Confidence: ingest.Certain, Why: "a SequenceFile of Tez's protobuf messages"}
		}
		return ingest.Match{}
	}
	b = bytes.TrimLeft(b, " \t\r\n\x01")
	if len(b) > 0 && b[0] == '{' && bytes.Contains(b, []byte(`"TEZ_`)) {
		for _, word := range []string{"TEZ_DAG_ID", "TEZ_VERTEX_ID", "TEZ_TASK_ID", "TEZ_TASK_ATTEMPT_ID", "TEZ_APPLICATION", "TEZ_CONTAINER_ID"} {
			if bytes.Contains(b, []byte(`"`+word)) {
				return ingest.Match{Confidence: ingest.Certain, Why: "entities of type " + word}
			}
		}
	}
	return ingest.Match{}
}

func instead(h ingest.Head) string {
	if !read.ProcessLog(h.Bytes, "org.apache.tez", "DAGAppMaster", "[HISTORY][DAG:", "HistoryEventHandler") {
		return ""
	}
	return "the text log of a Tez application master or task; give the history: the file history.txt.* or the dag_data of the logger that tez.history.logging.service.class names, or the zip that Tez's UI downloads"
}

func readLog(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
	f := newFold(in, out)
	var errs []error
	for _, p := range in.Parts {
		errs = append(errs, f.part(ctx, p))
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return errors.Join(append(errs, f.finish())...)
}

// part reads a file in any of the containers.
func (f *fold) part(ctx context.Context, p ingest.Part) error {
	r, err := p.Open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	var magic [3]byte
	n, err := io.ReadFull(r, magic[:])
	if err != nil && n == 0 {
		if err == io.EOF {
			return nil
		}
		return err
	}
	whole := io.MultiReader(bytes.NewReader(magic[:n]), r)
	if string(magic[:n]) == "SEQ" {
		return f.sequence(ctx, p, whole)
	}
	return f.json(ctx, p, whole)
}
