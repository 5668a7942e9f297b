package spark

import (
	"math"
	"strconv"
	"strings"

	"straggler/ingest/read"
	"straggler/schema"
)

// executorOf returns the executor that a task ran on.
func (a *app) executorOf(t *task) *executor {
	x := a.executors[t.executor]
	if x == nil {
		x = a.newExecutor(t.executor, t.host)
	}
	if x.host == "" {
		x.host = t.host
	}
	x.used = true
	return x
}

func (a *app) newExecutor(id, host string) *executor {
	x := &executor{ordinal: uint32(len(a.executorList)), id: id, host: host, cores: none, added: none, removed: none}
	a.executors[id] = x
	a.executorList = append(a.executorList, x)
	return x
}

// noticed records when an executor, or an output on it, was first missed.
func (x *executor) noticed(ms int64) {
	if x.lostAt == 0 {
		x.lostAt = millis(ms)
	}
}

func (a *app) executorAdded(e *executorAdded) {
	x := a.executors[e.ID]
	if x != nil && x.declared && x.added == e.Time {
		a.count.repeated++
		return
	}
	if x == nil || x.removed >= 0 {
		x = a.newExecutor(e.ID, e.Info.Host)
	}
	x.declared, x.cores, x.profile, x.added = true, e.Info.Cores, max(e.Info.Profile, 0), e.Time
	if x.host == "" {
		x.host = e.Info.Host
	}
}

func (a *app) executorRemoved(e *executorRemoved) {
	x := a.executors[e.ID]
	if x == nil {
		return
	}
	x.removed = e.Time
	a.goes(x, e.Time)
}

// blockManagerAdded stands in for ExecutorAdded in logs before Spark 1.3.
func (a *app) blockManagerAdded(e *blockManager) {
	x := a.executors[e.ID.Executor]
	if x == nil {
		x = a.newExecutor(e.ID.Executor, e.ID.Host)
	}
	if x.added < 0 {
		x.added = e.Time
	}
	if x.host == "" {
		x.host = e.ID.Host
	}
}

func (a *app) blockManagerRemoved(e *blockManager) {
	if x := a.executors[e.ID.Executor]; x != nil {
		a.goes(x, e.Time)
	}
}

// goes records the end of an executor. Its outputs remain only if an external shuffle service serves them.
func (a *app) goes(x *executor, ms int64) {
	x.noticed(ms)
	if a.settings["spark.shuffle.service.enabled"] != "true" {
		x.lost = true
	}
}

func (a *app) resourceProfile(r *resourceProfile) {
	if r.ID >= 0 && r.Tasks.CPUs.Amount > 0 {
		a.taskCPUs[r.ID] = r.Tasks.CPUs.Amount
	}
}

// writeMachines writes a row for each executor. The driver is one where it ran tasks, as it does in local mode.
func (a *app) writeMachines() {
	var rows []schema.Machine
	for _, x := range a.executorList {
		isDriver := x.id == "driver" || x.id == "<driver>"
		if x.host == "" || isDriver && !x.used {
			continue
		}
		row := schema.Machine{
			ApplicationID: schema.Some(a.key),
			Machine:       x.host,
			Executor:      known(x.id),
			AddedTime:     read.Millis(x.added),
			RemovedTime:   read.Millis(x.removed),
			MemoryBytes:   a.memory(isDriver),
		}
		ordered(&row.AddedTime, &row.AddedTime, &row.RemovedTime)
		cores := x.cores
		if cores < 0 && isDriver {
			cores = localCores(a.settings["spark.master"])
		}
		if cores > 0 {
			row.Cores = schema.Some(float64(cores))
			row.Slots = a.slots(cores, x.profile)
		}
		rows = append(rows, row)
	}
	flush(a.fold, &rows)
}

// slots returns the number of concurrent tasks on a number of cores: cores / spark.task.cpus, which a resource profile may
// change.
func (a *app) slots(cores, profile int64) schema.Null[int64] {
	cpus, ok := a.taskCPUs[profile]
	if !ok {
		v, err := strconv.ParseFloat(a.settings["spark.task.cpus"], 64)
		if cpus = v; err != nil || !(v > 0) {
			cpus = 1
		}
	}
	slots := math.Floor(float64(cores) / cpus)
	if !(slots >= 1 && slots < 1<<31) {
		return schema.Null[int64]{}
	}
	return schema.Some(int64(slots))
}

// localCores reads the cores of a master such as local, local[4] or local[4,2]; none if it means all cores.
func localCores(master string) int64 {
	if master == "local" {
		return 1
	}
	inner, ok := strings.CutPrefix(master, "local[")
	if !ok {
		return none
	}
	inner, _, _ = strings.Cut(strings.TrimSuffix(inner, "]"), ",")
	n, err := strconv.ParseInt(strings.TrimSpace(inner), 10, 32)
	if err != nil || n <= 0 {
		return none
	}
	return n
}

// memory returns the requested heap of an executor, or of the driver.
func (a *app) memory(isDriver bool) schema.Null[int64] {
	name := "spark.executor.memory"
	if isDriver {
		name = "spark.driver.memory"
	}
	return parseSize(a.settings[name])
}

// parseSize reads a size as Spark writes it: a number and b, k, kb, m, mb, …; without a unit it is MiB, Spark's default for
// memory.
func parseSize(s string) schema.Null[int64] {
	s = strings.ToLower(strings.TrimSpace(s))
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(s[:end], 10, 64)
	shift, ok := sizeShift[strings.TrimSpace(s[end:])]
	if err != nil || !ok || n <= 0 || n > math.MaxInt64>>shift {
		return schema.Null[int64]{}
	}
	return schema.Some(n << shift)
}

var sizeShift = map[string]uint{"b": 0, "k": 10, "kb": 10, "": 20, "m": 20, "mb": 20, "g": 30, "gb": 30, "t": 40, "tb": 40, "p": 50, "pb": 50}
