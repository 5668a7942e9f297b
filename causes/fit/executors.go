package fit

import "straggler/schema"

// YoungFor is for how long, in seconds, an executor counts as young if it joined after the others of its application. In Spark
// logs of real jobs, replacement JVMs with a fifth of a core take 10 to 40 s to compile what they run (MODEL.md, section 5).
const YoungFor = 60

// Executors determines until when executors, identified by names of some type, were cold.
type Executors[Name comparable] struct {
	of    map[executor[Name]]*executorTimes
	first map[schema.Key]schema.Time // start of the first attempt of an application, on executors that warm up
}

type executor[Name comparable] struct {
	application schema.Key
	name        Name
}

// executorTimes are the start of the first attempt of an executor, and the first end of one.
type executorTimes struct {
	began, ended schema.Time
	attempts     int
}

// Add adds an attempt.
func (e *Executors[Name]) Add(application schema.Key, name Name, start, finish schema.Time) {
	if e.of == nil {
		e.of = map[executor[Name]]*executorTimes{}
	}
	end := finish.Add(-LaunchOverlap * finish.Sub(start))
	x := e.of[executor[Name]{application, name}]
	if x == nil {
		x = &executorTimes{began: start, ended: end}
		e.of[executor[Name]{application, name}] = x
	}
	x.began, x.ended, x.attempts = min(x.began, start), min(x.ended, end), x.attempts+1
}

// warmsUp reports whether the executor ran more than two attempts: a container for a single attempt never warms up.
func (x *executorTimes) warmsUp() bool { return x.attempts > 2 }

// Cold reports whether an attempt that starts at a time runs on a cold executor: none of the executor's attempts had ended, or
// it is young, having joined after the first executor of its application; it is young for at most as long as it joined later.
// All attempts must have been added.
func (e *Executors[Name]) Cold(application schema.Key, name Name, start schema.Time) bool {
	if e.first == nil {
		e.first = map[schema.Key]schema.Time{}
		for k, x := range e.of {
			if first, ok := e.first[k.application]; x.warmsUp() && (!ok || x.began < first) {
				e.first[k.application] = x.began
			}
		}
	}
	x := e.of[executor[Name]{application, name}]
	if x == nil || !x.warmsUp() {
		return false
	}
	return start < x.ended || start.Sub(x.began) < min(YoungFor, x.began.Sub(e.first[application]))
}
