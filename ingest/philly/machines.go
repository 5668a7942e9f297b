package philly

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/schema"
)

type table int

const (
	noTable table = iota
	cpuTable
	memoryTable
	gpuTable
	machineTable
)

// sideTable recognises a side table by its header.
func sideTable(header []byte) table {
	h := strings.ReplaceAll(strings.ToLower(string(bytes.TrimRight(header, "\r\n"))), " ", "")
	switch {
	case strings.HasPrefix(h, "time,machineid,gpu") || strings.HasPrefix(h, "time,machine_id,gpu"):
		return gpuTable
	case strings.HasPrefix(h, "time,machine_id,cpu_util") || strings.HasPrefix(h, "time,machineid,cpu"):
		return cpuTable
	case strings.HasPrefix(h, "time,machine_id,mem_total") || strings.HasPrefix(h, "time,machineid,mem"):
		return memoryTable
	case strings.HasPrefix(h, "machineid,numberofgpus") || strings.HasPrefix(h, "machineid,num"):
		return machineTable
	}
	return noTable
}

// sideTable reads a part other than the job log.
func (r *reader) sideTable(ctx context.Context, p ingest.Part) error {
	kind := noTable
	return read.EachLine(ctx, p, r.out, func(line read.Line) error {
		if line.Number == 1 {
			if kind = sideTable(line.Data); kind == noTable {
				read.RejectLine(r.out, p, line, "neither the job log nor the header of a side table")
			} else {
				r.out.Decoded(1)
			}
			return nil
		}
		if kind == noTable || len(bytes.TrimSpace(line.Data)) == 0 {
			r.out.Decoded(1)
			return nil
		}
		if !r.sideRow(kind, strings.Split(strings.TrimRight(string(line.Data), "\r,"), ",")) {
			read.RejectLine(r.out, p, line, "the row does not fit the table's header")
			return nil
		}
		r.out.Decoded(1)
		if len(r.trace.MachineUsage) < 8192 {
			return nil
		}
		return r.flush()
	})
}

// sideRow turns a row into a machine or a usage sample; NA and empty values are unknown. A sample covers a minute.
func (r *reader) sideRow(kind table, f []string) bool {
	switch kind {
	case gpuTable: // machine_usage has no column for it
		return len(f) >= 2
	case machineTable:
		if len(f) < 2 || f[0] == "" {
			return false
		}
		m := schema.Machine{Machine: read.Text(strings.TrimSpace(f[0]))}
		if n, err := strconv.ParseInt(strings.TrimSpace(f[1]), 10, 32); err == nil && n >= 0 {
			m.Slots = schema.Some(n) // GPUs: a task of this cluster occupies one or more
		}
		if len(f) > 2 {
			m.Platform = read.NullText(strings.TrimSpace(f[2]))
		}
		r.trace.Machines = append(r.trace.Machines, m)
		return true
	}
	if len(f) < 3 {
		return false
	}
	at := instant(f[0])
	if !at.OK {
		return false
	}
	u := schema.MachineUsage{Machine: read.Text(strings.TrimSpace(f[1])), Time: at.V, WindowS: schema.Some(60.0)}
	first, ok := number(f[2])
	switch {
	case kind == cpuTable && ok:
		u.CPU = schema.Some(min(first/100, 1))
	case kind == memoryTable && ok && len(f) > 3:
		if free, known := number(f[3]); known && first > 0 && free <= first {
			u.Memory = schema.Some(1 - free/first)
		}
	}
	r.trace.MachineUsage = append(r.trace.MachineUsage, u)
	return true
}

func number(s string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return n, err == nil && n >= 0 && n < 1e18
}
