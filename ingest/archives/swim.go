package archives

import (
	"bytes"
	"context"
	"errors"
	"strconv"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/schema"
)

// SWIM returns the format of a workload sample of the Statistical Workload Injector for MapReduce.
func SWIM() ingest.Format {
	return ingest.Format{
		Name: "swim",
		Doc:  "SWIM workload samples (tab-separated: job, submit, gap, map input, shuffle, reduce output)",
		Detail: `The samples have jobs but no tasks. Each line is a job with its submission time, which counts from the start of the sample
(time_origin trace). Its three byte counts become settings of its application (swim.map_input_bytes, swim.shuffle_bytes,
swim.reduce_output_bytes). There are no durations, attempts or machines, so nothing can be called slow; a sample is useful as a
workload for simulations.`,
		Experimental: "the samples have jobs but no tasks: nothing in them can be called slow",
		Sniff:        sniffSWIM,
		Read:         readSWIM,
	}
}

func sniffSWIM(h ingest.Head) ingest.Match {
	lines := bytes.SplitN(h.Bytes, []byte("\n"), 4)
	n := len(lines)
	if !h.Whole {
		n--
	}
	good := 0
	for _, line := range lines[:min(n, 3)] {
		if len(line) == 0 {
			continue
		}
		if _, ok := parseSWIM(line); !ok {
			return ingest.Match{}
		}
		good++
	}
	if good == 0 {
		return ingest.Match{}
	}
	return ingest.Match{Confidence: 2, Why: "tab-separated lines of a job id and five whole numbers"}
}

// swimJob is a line, with byte counts for the three steps of the job.
type swimJob struct {
	id                     string
	submit, gap            int64 // in seconds
	input, shuffle, output int64
	path                   string
}

func readSWIM(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
	jobs := jobRows{in: in, framework: "mapreduce", out: out,
		apps: schema.NewKeys(in.Key, "applications"), jobs: schema.NewKeys(in.Key, "jobs")}
	err := eachLine(ctx, in, out, func(part ingest.Part, line read.Line) error {
		if len(bytes.TrimSpace(line.Data)) == 0 {
			out.Decoded(1)
			return nil
		}
		j, ok := parseSWIM(line.Data)
		if !ok {
			read.RejectLine(out, part, line, "not a job id and five whole numbers between tabs")
			return nil
		}
		out.Decoded(1)
		at := schema.Some(schema.Time(j.submit * 1e6))
		app := jobs.add(schema.Application{NativeID: read.Text(j.id), StartTime: at, TimeOrigin: "trace"}, schema.Job{SubmitTime: at})
		for _, s := range []struct {
			name string
			n    int64
		}{{"swim.map_input_bytes", j.input}, {"swim.reduce_output_bytes", j.output}, {"swim.shuffle_bytes", j.shuffle}} {
			jobs.trace.Settings = append(jobs.trace.Settings, schema.Setting{ApplicationID: app, Name: s.name, Value: strconv.FormatInt(s.n, 10)})
		}
		return jobs.flush(false)
	})
	jobs.caveat("no_tasks", "the sample has jobs but no tasks: nothing in it can be called slow")
	return errors.Join(err, jobs.flush(true))
}

func parseSWIM(line []byte) (swimJob, bool) {
	f := bytes.Split(bytes.TrimRight(line, "\r"), []byte("\t"))
	if len(f) < 6 || len(f) > 9 || len(f[0]) == 0 || len(f[0]) > 200 {
		return swimJob{}, false
	}
	j := swimJob{id: string(f[0])}
	for i, dst := range []*int64{&j.submit, &j.gap, &j.input, &j.shuffle, &j.output} {
		n, err := strconv.ParseInt(string(f[i+1]), 10, 64)
		if err != nil || n < 0 {
			return swimJob{}, false
		}
		*dst = n
	}
	if len(f) > 6 {
		j.path = string(f[6])
	}
	return j, j.submit < 1<<40
}
