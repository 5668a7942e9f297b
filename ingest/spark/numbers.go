package spark

// numbers holds the numbers of the launched attempts of a phase.
type numbers struct {
	first []uint64            // a bit a task, up to denseTasks: it has an attempt 0
	later map[taskNumber]bool // all other attempts
	free  map[int64]int32     // of tasks with attempts that were numbered here: all numbers below it are taken
}

type taskNumber struct {
	task   int64
	number int32
}

// words returns their memory in words, counting eight per entry of a map.
func (n *numbers) words() int { return len(n.first) + 8*(len(n.later)+len(n.free)) }

// maxNumbered bounds the memory for numbers of attempts: 128 MiB. Beyond it attempts keep the numbers of the log.
const maxNumbered = 16 << 20

// number returns the number of an attempt of a task: the one in the log, unless another attempt has it, as in a log that was
// damaged or edited. Otherwise, and in logs before Spark 1.1, which do not number attempts, it is the lowest that is free, so
// that attempts are numbered in the order of their launches.
func (a *app) number(p *phase, task int64, said int32) int32 {
	n := &p.numbers
	words := n.words()
	if a.numbered >= maxNumbered {
		return max(said, 0)
	}
	number := max(said, 0)
	if n.has(task, number) {
		if said >= 0 {
			a.count.renumbered++
		}
		for number = n.free[task]; n.has(task, number); number++ {
		}
		if n.free == nil {
			n.free = map[int64]int32{}
		}
		n.free[task] = number + 1
	}
	n.add(task, number)
	a.numbered += n.words() - words
	return number
}

// denseTasks bounds the tasks of a phase that have a bit, since a damaged log may have any number.
const denseTasks = 8 << 20

func isFirst(task int64, number int32) bool { return number == 0 && task >= 0 && task < denseTasks }

func (n *numbers) has(task int64, number int32) bool {
	if isFirst(task, number) {
		return task/64 < int64(len(n.first)) && n.first[task/64]>>(task%64)&1 == 1
	}
	return n.later[taskNumber{task, number}]
}

func (n *numbers) add(task int64, number int32) {
	if isFirst(task, number) {
		if need := int(task/64) + 1; len(n.first) < need {
			n.first = append(n.first, make([]uint64, need-len(n.first))...)
		}
		n.first[task/64] |= 1 << (task % 64)
		return
	}
	if n.later == nil {
		n.later = map[taskNumber]bool{}
	}
	n.later[taskNumber{task, number}] = true
}
