package generate

import (
	"bufio"
	"context"
	"io"
	"slices"
)

// Wide writes a Spark event log with one stage of the given number of tasks, made from the tasks of the largest stage of the
// decompressed log r. It returns the bytes written.
func Wide(ctx context.Context, w io.Writer, r io.Reader, tasks int64) (int64, error) {
	t, err := readTemplate(r)
	if err != nil {
		return 0, wrap(err, "reading the log to repeat")
	}
	s := t.largestStage()
	if s.tasks <= 0 { // its tasks have no index
		return 0, wrap(ErrNoTasks, "reading the log to repeat")
	}
	out := &counter{w: bufio.NewWriterSize(w, 1<<20)}
	var move [numbers]int64
	if err := out.lines(ctx, t.head, &move); err != nil {
		return out.n, err
	}
	move[taskCount] = tasks - s.tasks
	if err := out.lines(ctx, s.before, &move); err != nil {
		return out.n, err
	}
	move[taskCount] = 0
	last := int64(0)
	for done := int64(0); done < tasks; done += s.tasks {
		for i := range s.body {
			if i%1024 == 0 && ctx.Err() != nil {
				return out.n, ctx.Err()
			}
			if l := &s.body[i]; index(l)+done < tasks {
				if err := out.line(l, &move); err != nil {
					return out.n, err
				}
			}
		}
		last = move[instant]
		move[taskID] += t.span[taskID]
		move[taskIndex] += s.tasks
		move[instant] += s.span
	}
	move = [numbers]int64{taskCount: tasks - s.tasks, instant: last}
	if err := out.lines(ctx, slices.Concat(s.after, t.tail), &move); err != nil {
		return out.n, err
	}
	return out.n, wrap(out.w.Flush(), "writing the log")
}

// stage is the part of a log that is about one stage and its job.
type stage struct {
	before, body, after []line
	tasks               int64 // consecutive indexes from 0 on that ended with success
	span                int64 // ms from the first of its times to the last
}

// largestStage finds the first attempt of the stage with the most tasks, and the job that it belongs to.
func (t *template) largestStage() stage {
	ended := map[int64]int64{}
	best := int64(-1)
	for i := range t.body {
		l := &t.body[i]
		if l.event != "SparkListenerTaskEnd" {
			continue
		}
		id := first(l, stageID)
		ended[id] = max(ended[id], index(l)+1)
		if best < 0 || ended[id] > ended[best] {
			best = id
		}
	}
	s := stage{tasks: ended[best]}
	job := int64(-1)
	var low, high int64
	for i := range t.body {
		l := t.body[i]
		switch l.event {
		case "SparkListenerJobStart":
			if job < 0 && has(&l, stageID, best) {
				job = first(&l, jobID)
				s.before = append(s.before, l)
			}
		case "SparkListenerStageSubmitted":
			if first(&l, stageID) == best {
				s.before = append(s.before, l)
			}
		case "SparkListenerTaskStart", "SparkListenerTaskEnd":
			if first(&l, stageID) != best {
				continue
			}
			s.body = append(s.body, l)
			for _, p := range l.patches {
				if p.is == instant && (low == 0 || p.value < low) {
					low = p.value
				}
				if p.is == instant {
					high = max(high, p.value)
				}
			}
		case "SparkListenerStageCompleted":
			if first(&l, stageID) == best {
				s.after = append(s.after, l)
			}
		case "SparkListenerJobEnd":
			if first(&l, jobID) == job {
				s.after = append(s.after, l)
			}
		}
	}
	s.span = high - low + 1
	return s
}
