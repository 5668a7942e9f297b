package synth

import (
	"fmt"
	"math"

	"straggler/schema"
)

// job is a graph of stages, in topological order; the last one is the result.
type job struct {
	id     int
	row    schema.Job
	stages []*stage
	over   bool
}

// stage is a set of tasks, however often it is submitted.
type stage struct {
	job      *job
	id       int
	random   random
	name     string
	kind     string
	tasks    int
	parents  []*stage
	children []*stage

	fixedS, rate float64 // seconds, seconds per byte
	normal       float64 // bytes that a normal task reads
	ratio        float64 // bytes written for each byte read
	spread       float64
	gc           bool

	skew       Skew // Tasks = 0 if the stage has none
	skewCount  int
	mult, plus int // rank(k) = (mult·k + plus) mod tasks

	stageState
}

func (s *stage) source() bool { return len(s.parents) == 0 }

// planJob draws a job. Stages are numbered from first on.
func planJob(o *Options, shape random, id, first int) *job {
	d := shape.of(id)
	j := &job{id: id}
	n := int(d.between(forShape, Range{o.Shape.Phases.Low, o.Shape.Phases.High + 1}))
	n = max(1, min(n, int(o.Shape.Phases.High)))
	for i := range n {
		s := &stage{job: j, id: first + i, random: d.of(i), kind: "shuffle_map"}
		s.parents = pickParents(o, s.random, j.stages, i == n-1)
		for _, p := range s.parents {
			p.children = append(p.children, s)
		}
		if i == n-1 {
			s.kind = "result"
		}
		s.name = stageName(s, id, i)
		planWork(o, s)
		planSkew(o, s)
		j.stages = append(j.stages, s)
	}
	return j
}

// pickParents draws the inputs of a stage: storage only, or one or two earlier stages; the last one reads all that no other
// reads.
func pickParents(o *Options, d random, before []*stage, last bool) []*stage {
	if last {
		var loose []*stage
		for _, s := range before {
			if len(s.children) == 0 {
				loose = append(loose, s)
			}
		}
		return loose
	}
	if len(before) == 0 || d.chance(forParents, o.Shape.Sources) {
		return nil
	}
	parents := []*stage{before[len(before)-1]}
	if len(before) > 1 && d.of(1).chance(forParents, o.Shape.Join) {
		parents = append([]*stage{before[d.of(2).intn(forParents, len(before)-1)]}, parents...)
	}
	return parents
}

func stageName(s *stage, job, position int) string {
	op := "map"
	switch {
	case s.kind == "result":
		op = "collect"
	case len(s.parents) == 1:
		op = "reduceByKey"
	case len(s.parents) > 1:
		op = "join"
	}
	return fmt.Sprintf("%s at Synth.scala:%d", op, 100*(job+1)+position)
}

func planWork(o *Options, s *stage) {
	s.tasks = int(math.Round(s.random.logBetween(forTasks, o.Shape.Tasks)))
	s.fixedS = s.random.between(forWork, o.Work.FixedS)
	s.ratio, s.spread = o.Work.OutputRatio, o.Work.Spread
	s.normal = math.Round(s.random.of(0).logBetween(forWork, o.Work.Bytes))
	if !s.source() { // it reads what its parents write
		total := 0.0
		for _, p := range s.parents {
			total += float64(p.tasks) * p.normal * p.ratio
		}
		s.normal = math.Round(min(max(total/float64(s.tasks), 1024), 4*o.Work.Bytes.High))
	}
	s.rate = s.random.of(1).logBetween(forWork, o.Work.TaskS) / s.normal
	s.gc = s.random.chance(forGC, o.Faults.GC.Phases)
}

func planSkew(o *Options, s *stage) {
	f := o.Faults.Skew
	if !s.random.chance(forSkew, f.Phases) || s.tasks < 2 {
		return
	}
	s.skew = f
	if f.Most == 0 {
		s.skew.Most = 50
	}
	s.skewCount = max(1, int(math.Round(f.Tasks*float64(s.tasks))))
	s.mult = 1 + s.random.intn(forRank, s.tasks)
	for gcd(s.mult, s.tasks) != 1 {
		s.mult++
	}
	s.plus = s.random.of(0).intn(forRank, s.tasks)
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// skewFactor returns the factor of a task's input over normal.
func (s *stage) skewFactor(task int) float64 {
	if s.skewCount == 0 {
		return 1
	}
	rank := (s.mult*task + s.plus) % s.tasks
	if s.skew.Zipf > 0 {
		return min(math.Pow(float64(rank+1)/(float64(s.tasks)/2), -s.skew.Zipf), s.skew.Most)
	}
	if rank >= s.skewCount {
		return 1
	}
	return s.random.of(task).between(forSkew, s.skew.Factor)
}

// bytes returns the input of a task.
func (s *stage) bytes(task int) float64 {
	f := s.skewFactor(task)
	if s.spread > 0 {
		f *= s.random.of(task).lognormal(forSpread, s.spread)
	}
	return max(1, math.Round(s.normal*f))
}

// skewed lists the tasks with at least one and a half times the normal input.
func (s *stage) skewed(phase schema.Key) []SkewedTask {
	if s.skewCount == 0 {
		return nil
	}
	var out []SkewedTask
	for task := range s.tasks {
		if f := s.skewFactor(task); f >= 1.5 {
			out = append(out, SkewedTask{PhaseID: phase, Task: int64(task), Factor: f})
		}
	}
	return out
}
