package archives

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/schema"
)

// SWF returns the format of logs in the Standard Workload Format 2.x of the Parallel Workloads Archive.
func SWF() ingest.Format {
	return ingest.Format{
		Name: "swf",
		Doc:  "Standard Workload Format (; header, 18 numbers per line)",
		Detail: `Each line is an application with one job, one phase and one attempt: a parallel job is a gang whose processors start and end
together. Times count from UnixStartTime if the header has it (time_origin epoch), else from the start of the trace. A job whose
wait is unknown (−1) has a duration but no start. There are no machines, bytes or retries. The preceding job (field 17) is dropped,
since edges join the phases of one job.`,
		Experimental: "a job is one attempt, so none can be called slow",
		Sniff:        sniffSWF,
		Read:         readSWF,
	}
}

func sniffSWF(h ingest.Head) ingest.Match {
	header := false
	for line := range bytes.Lines(h.Bytes) {
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0:
		case line[0] == ';':
			header = true
		default:
			if _, ok := parseSWF(line); !ok {
				return ingest.Match{}
			}
			if header {
				return ingest.Match{Confidence: ingest.Certain, Why: "; header and 18 numbers per line"}
			}
			return ingest.Match{Confidence: 2, Why: "18 numbers per line"}
		}
	}
	return ingest.Match{}
}

// The fields of a line, by number less one.
const (
	swfJob = iota
	swfSubmit
	swfWait
	swfRun
	swfProcs
	swfCPU
	swfMemory // KB per processor
	swfReqProcs
	swfReqTime
	swfReqMemory
	swfStatus
	swfUser
	swfGroup
	swfExecutable
	swfQueue
	swfPartition
	swfPreceding
	swfThink
	swfFields
)

func readSWF(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
	s := swfReader{
		jobRows: jobRows{in: in, framework: "swf", out: out, apps: schema.NewKeys(in.Key, "applications"), jobs: schema.NewKeys(in.Key, "jobs")},
		phases:  schema.NewKeys(in.Key, "phases"), attempts: schema.NewKeys(in.Key, "attempts"), origin: "trace",
	}
	err := eachLine(ctx, in, out, func(part ingest.Part, line read.Line) error {
		text := bytes.TrimSpace(line.Data)
		if len(text) == 0 || text[0] == ';' {
			s.header(text)
			out.Decoded(1)
			return nil
		}
		v, ok := parseSWF(text)
		if !ok {
			read.RejectLine(out, part, line, "not 18 numbers between blanks")
			return nil
		}
		out.Decoded(1)
		s.line(&v)
		return s.flush(false)
	})
	s.caveat("gang", "each job is one attempt for all its processors: nothing can be compared within a job")
	s.caveatOf(s.startless, "no_start", "jobs have no wait time: how long they ran is known, when is not")
	return errors.Join(err, s.flush(true))
}

func parseSWF(line []byte) ([swfFields]float64, bool) {
	var v [swfFields]float64
	f := bytes.Fields(line)
	if len(f) < swfFields || len(f) > swfFields+8 { // some sites append fields of their own
		return v, false
	}
	for i := range v {
		n, err := strconv.ParseFloat(string(f[i]), 64)
		if err != nil || n != n || n > 1e15 || n < -1e15 {
			return v, false
		}
		v[i] = n
	}
	return v, true
}

type swfReader struct {
	jobRows
	phases, attempts *schema.Keys
	base             int64 // in seconds
	origin           string
	startless        int64 // jobs that ran, but whose wait is unknown
}

func (s *swfReader) header(text []byte) {
	name, value, ok := strings.Cut(strings.TrimLeft(string(text), "; "), ":")
	if !ok || !strings.EqualFold(strings.TrimSpace(name), "UnixStartTime") {
		return
	}
	if n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); err == nil && n > 0 && n < 1<<38 {
		s.base, s.origin = n, "epoch"
	}
}

func (s *swfReader) line(v *[swfFields]float64) {
	status, run := swfStatuses(v[swfStatus])
	submit := s.at(v[swfSubmit], true)
	start := s.at(v[swfSubmit]+v[swfWait], submit.OK && v[swfWait] >= 0)
	end := s.at(v[swfSubmit]+v[swfWait]+v[swfRun], start.OK && v[swfRun] >= 0)
	native := strconv.FormatFloat(v[swfJob], 'f', -1, 64)
	app := s.add(schema.Application{
		NativeID: native, User: number(v[swfUser]), Queue: number(v[swfQueue]), StartTime: submit, FinishTime: end, Status: run, TimeOrigin: s.origin,
	}, schema.Job{SubmitTime: submit, StartTime: start, FinishTime: end})
	job := s.trace.Jobs[len(s.trace.Jobs)-1].JobID
	p := schema.Phase{
		PhaseID: s.phases.Next(), JobID: job, NativeID: native, Name: number(v[swfExecutable]), Kind: "gang",
		TaskCount: schema.Some(int64(1)), SubmitTime: submit, StartTime: start, FinishTime: end, Status: run, Gang: true,
	}
	s.trace.Phases = append(s.trace.Phases, p)
	a := schema.Attempt{
		AttemptID: s.attempts.Next(), PhaseID: p.PhaseID, JobID: job, ApplicationID: app, NativeID: native,
		QueuedTime: submit, StartTime: start, FinishTime: end, Status: status,
		Quality: schema.RackUnknown | schema.MetricsMissing | schema.GangMember,
	}
	if start.OK && end.OK {
		a.DurationS = schema.Some(end.V.Sub(start.V))
	} else {
		a.Quality |= schema.PartialRow
		if !start.OK && v[swfRun] >= 0 {
			a.DurationS = schema.Some(v[swfRun])
			s.startless++
		}
	}
	if v[swfCPU] >= 0 && v[swfProcs] > 0 {
		a.CPUS = schema.Some(v[swfCPU] * v[swfProcs])
	}
	if v[swfMemory] >= 0 && v[swfProcs] > 0 && v[swfMemory]*v[swfProcs] < 1e15 {
		a.PeakMemoryBytes = schema.Some(int64(v[swfMemory] * v[swfProcs] * 1024))
	}
	s.trace.Attempts = append(s.trace.Attempts, a)
}

func (s *swfReader) at(sec float64, known bool) schema.Null[schema.Time] {
	if !known || sec < 0 || sec > 1e11 {
		return schema.Null[schema.Time]{}
	}
	return schema.Some(schema.Time(s.base * 1e6).Add(sec))
}

func number(v float64) schema.Null[string] {
	if v < 0 {
		return schema.Null[string]{}
	}
	return schema.Some(strconv.FormatFloat(v, 'f', -1, 64))
}

// swfStatuses interprets field 11: 1 completed, 0 failed, 5 cancelled; 2 to 4 are parts of a checkpointed job.
func swfStatuses(v float64) (schema.AttemptStatus, schema.RunStatus) {
	switch v {
	case 1, 3:
		return schema.Success, schema.RunSucceeded
	case 0, 4:
		return schema.Failed, schema.RunFailed
	case 5:
		return schema.Killed, schema.RunKilled
	}
	return schema.UnknownStatus, schema.RunUnknown
}
