package google

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"straggler/ingest/read"
	"straggler/schema"
)

// machine is what machine_events record of a machine: its first capacity.
type machine struct {
	platform, rack string
	cpus           float64 // fraction of the largest machine; NaN unknown
	added, removed int64   // -1 unknown
}

// maxMachines bounds the machines held; a cell has about ten thousand.
const maxMachines = 1_000_000

// machineEvent is a record about a machine: 1 add, 2 remove, 3 update.
type machineEvent struct {
	id, time, kind int64
	platform, rack string
	cpus           float64 // NaN unknown
}

func (r *reader) machineEvent(e *machineEvent) {
	m := r.machines[e.id]
	if m == nil {
		if len(r.machines) >= maxMachines {
			return
		}
		m = &machine{cpus: math.NaN(), added: -1, removed: -1}
		r.machines[e.id] = m
	}
	m.platform, m.rack = max(m.platform, e.platform), max(m.rack, e.rack) // independent of the order of shards
	if !math.IsNaN(e.cpus) && !(m.cpus >= e.cpus) {
		m.cpus = e.cpus
	}
	switch {
	case e.kind == 1 && (m.added < 0 || e.time < m.added):
		m.added = e.time
	case e.kind == 2:
		m.removed = max(m.removed, e.time)
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
			Machine: strconv.FormatInt(id, 10), Rack: read.NullText(m.rack), Platform: read.NullText(m.platform),
			AddedTime: read.Micros(m.added), RemovedTime: read.Micros(m.removed),
		}
		if !math.IsNaN(m.cpus) {
			row.Cores = schema.Some(m.cpus)
		}
		r.trace.Machines = append(r.trace.Machines, row)
	}
}

// windowUS is the length of the trace's measurement windows.
const windowUS = 300_000_000

// usageRows sums use by machine and window, as a fraction of the machine's capacity. The order of the records is fixed, so the
// sums are too.
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
