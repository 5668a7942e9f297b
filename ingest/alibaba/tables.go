package alibaba

import (
	"bytes"
	"slices"

	"straggler/ingest/read"
)

// table is one of the files of a trace.
type table struct {
	name    string // prefix of file names
	columns int
	fits    func(f [][]byte) bool // whether a row has the shape, for files with other names
	row     func(d *decoder, f [][]byte) bool
}

// tables lists the tables that are read. A shape must not fit the rows of another table.
var tables = []table{
	{"batch_task", 9, func(f [][]byte) bool { return jobName(f[2]) && status(f[4]) && isNumber(f[1]) }, (*decoder).task2018},
	{"batch_instance", 14, func(f [][]byte) bool { return jobName(f[2]) && status(f[4]) && isNumber(f[8]) }, (*decoder).instance2018},
	{"batch_task", 8, func(f [][]byte) bool { return isNumber(f[0]) && isNumber(f[2]) && status(f[5]) }, (*decoder).task2017},
	{"batch_instance", 12, func(f [][]byte) bool { return status(f[5]) && isNumber(f[6]) && isNumber(f[7]) }, (*decoder).instance2017},
	{"machine_meta", 7, func(f [][]byte) bool { return machineName(f[0]) && isNumber(f[1]) && isNumber(f[4]) }, (*decoder).machine2018},
	{"machine_usage", 9, func(f [][]byte) bool { return machineName(f[0]) && isNumber(f[1]) && isNumber(f[2]) }, (*decoder).usage2018},
	{"server_event", 7, func(f [][]byte) bool { return isNumber(f[0]) && isNumber(f[1]) && event(f[2]) }, (*decoder).event2017},
	{"server_usage", 8, func(f [][]byte) bool { return allNumbers(f) }, (*decoder).usage2017},
	{"pai_job_table", 6, nil, (*decoder).jobGPU},
	{"pai_task_table", 10, nil, (*decoder).taskGPU},
	{"pai_instance_table", 9, nil, (*decoder).instanceGPU},
	{"pai_machine_spec", 5, nil, (*decoder).machineGPU},
}

// skipped are files of a trace without data for the tables.
var skipped = []string{"container_event", "container_meta", "container_usage", "pai_group_tag", "pai_sensor", "pai_machine_metric"}

// tableOf finds the table from the name of the file and the number of columns, or else from the row's shape.
func tableOf(name string, f [][]byte) *table {
	for i := range tables {
		t := &tables[i]
		if len(f) != t.columns {
			continue
		}
		if name != "" && t.name == name && (t.fits == nil || t.fits(f)) || name == "" && t.fits != nil && t.fits(f) {
			return t
		}
	}
	return nil
}

// header reports whether a row is the names of columns, which some copies of the trace have in the file: either those in the
// documentation, or any words without a number among them.
func header(f [][]byte) bool {
	return documentedHeader(f) || len(f) > 4 && !slices.ContainsFunc(f, isNumber)
}

// documentedHeader reports whether a row contains the name of a column as documented.
func documentedHeader(f [][]byte) bool {
	return slices.ContainsFunc(f, func(b []byte) bool {
		switch string(b) {
		case "job_name", "task_name", "instance_name", "inst_name", "machine_id", "worker_name", "time_stamp", "start_time", "cap_cpu":
			return true
		}
		return false
	})
}

// tableLike returns the table with the name of the file and the number of columns, for rows with undocumented words.
func tableLike(name string, f [][]byte) *table {
	for i := range tables {
		if t := &tables[i]; name != "" && t.name == name && len(f) == t.columns {
			return t
		}
	}
	return nil
}

// split splits a row at its commas; blanks and quotes around a value are removed.
func split(line []byte, dst [][]byte) [][]byte {
	first := len(dst)
	dst = read.Fields(line, ',', dst)
	for i, f := range dst[first:] {
		if n := len(f); n > 0 && (f[0] <= '"' || f[n-1] <= '"') { // the trimmed bytes are among the smallest of ASCII
			dst[first+i] = bytes.Trim(f, " \t\r\"")
		}
	}
	return dst
}

func allNumbers(f [][]byte) bool {
	for _, b := range f {
		if !isNumber(b) && len(b) > 0 {
			return false
		}
	}
	return len(f[0]) > 0 && len(f[1]) > 0
}

func isNumber(b []byte) bool {
	_, ok := number(b)
	return ok
}

func jobName(b []byte) bool { return bytes.HasPrefix(b, []byte("j_")) }

func machineName(b []byte) bool { return bytes.HasPrefix(b, []byte("m_")) }

func event(b []byte) bool {
	return string(b) == "add" || string(b) == "softerror" || string(b) == "harderror"
}

func status(b []byte) bool {
	_, ok := statusOf(b)
	return ok
}
