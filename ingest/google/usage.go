package google

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"straggler/ingest"
	"straggler/ingest/extsort"
	"straggler/schema"
)

// machine is what machine_events say of a machine: the first capacity that it had.
type machine struct {
	platform, rack string
	cpus           float64 // fraction of the largest machine; NaN unknown
	added, removed int64   // -1 unknown
}

// maxMachines bounds the machines held; a cell has some ten thousand.
const maxMachines = 1_000_000

// machine takes an event of a machine: 1 add, 2 remove, 3 update.
func (r *reader) machine(id, at, typ int64, platform, rack string, cpus float64) {
	m := r.machines[id]
	if m == nil {
		if len(r.machines) >= maxMachines {
			return
		}
		m = &machine{cpus: math.NaN(), added: -1, removed: -1}
		r.machines[id] = m
	}
	if platform != "" {
		m.platform = max(m.platform, ingest.Text(platform)) // in any order of shards
	}
	if rack != "" {
		m.rack = max(m.rack, ingest.Text(rack))
	}
	if !math.IsNaN(cpus) && !(m.cpus >= cpus) {
		m.cpus = cpus
	}
	switch {
	case typ == 1 && (m.added < 0 || at < m.added):
		m.added = at
	case typ == 2:
		m.removed = max(m.removed, at)
	}
}

func (r *reader) machineRows() {
	ids := make([]int64, 0, len(r.machines))
	for id := range r.machines {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		m := r.machines[id]
		row := schema.Machine{
			Machine: strconv.FormatInt(id, 10), Rack: ingest.NullText(m.rack), Platform: ingest.NullText(m.platform),
			AddedTime: instant(m.added), RemovedTime: instant(m.removed),
		}
		if !math.IsNaN(m.cpus) {
			row.Cores = schema.Some(m.cpus)
		}
		r.trace.Machines = append(r.trace.Machines, row)
	}
}

// windowUS is the length of the trace's measurement windows.
const windowUS = 300_000_000

// use takes what a task used of a machine from start to end; it counts in the window in which it started.
func (r *reader) use(machine, start, end int64, cpus float64) {
	if math.IsNaN(cpus) || start < 0 {
		return
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], math.Float64bits(cpus*float64(end-start)))
	if err := r.usage.Add(extsort.Key{machine, start / windowUS, start, end}, b[:]); err != nil && r.err == nil {
		r.err = err
	}
}

// usageRows sums use by machine and window, as a fraction of what the machine has. The order of the records is fixed,
// so the sums are.
func (r *reader) usageRows(ctx context.Context) error {
	var id, window int64
	var sum float64
	open, n := false, 0
	end := func() error {
		m := r.machines[id]
		if !open || m == nil || !(m.cpus > 0) {
			return nil
		}
		r.trace.MachineUsage = append(r.trace.MachineUsage, schema.MachineUsage{
			Machine: strconv.FormatInt(id, 10), Time: schema.Time(window * windowUS), WindowS: schema.Some(windowUS / 1e6),
			CPU: schema.Some(min(sum/windowUS/m.cpus, 1)),
		})
		if len(r.trace.MachineUsage) < flushRows {
			return nil
		}
		return r.flush()
	}
	for rec, err := range r.usage.Merge() {
		if err != nil {
			return err
		}
		if n++; n%8192 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if !open || rec.Key[0] != id || rec.Key[1] != window {
			if err := end(); err != nil {
				return err
			}
			id, window, sum, open = rec.Key[0], rec.Key[1], 0, true
		}
		sum += math.Float64frombits(binary.LittleEndian.Uint64(rec.Payload))
	}
	if err := end(); err != nil {
		return err
	}
	return r.flush()
}
