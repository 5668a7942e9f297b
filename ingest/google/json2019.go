package google

import (
	"math"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// record2019 has the keys of all tables of 2019. Whole numbers and enums are quoted strings, or in some exports numbers and
// names; NULLs are left out.
type record2019 struct {
	Time           number   `json:"time"`
	Type           number   `json:"type"`
	CollectionID   number   `json:"collection_id"`
	CollectionType number   `json:"collection_type"`
	AllocSet       number   `json:"alloc_collection_id"` // that the instance is in; 0 for none
	InstanceIndex  number   `json:"instance_index"`
	MachineID      number   `json:"machine_id"`
	User           string   `json:"user"`
	LogicalName    string   `json:"collection_logical_name"`
	StartAfter     []number `json:"start_after_collection_ids"`
	SwitchID       string   `json:"switch_id"`
	PlatformID     string   `json:"platform_id"`
	StartTime      number   `json:"start_time"`
	EndTime        number   `json:"end_time"`
	Capacity       struct {
		CPUs *float64 `json:"cpus"`
	} `json:"capacity"`
	AverageUsage struct {
		CPUs *float64 `json:"cpus"`
	} `json:"average_usage"`
}

// number is a whole number, quoted or not, or the name of an enum's value.
type number struct {
	n    int64
	name string
	ok   bool
}

func (v *number) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	t, err := dec.ReadToken()
	if err != nil {
		return err
	}
	switch t.Kind() {
	case '"', '0':
		s := t.String()
		n, err := strconv.ParseInt(s, 10, 64)
		*v = number{n, s, err == nil}
	case '{', '[':
		return errNotNumber
	}
	return nil
}

var errNotNumber = strconv.ErrSyntax

// jsonLine reads a line of the table that its file belongs to, or else of the table identified by its keys.
func (d *decoder) jsonLine(t *table, line []byte) bool {
	var v record2019
	return decode(line, &v) && d.record(t, &v)
}

// record processes a record of the table, or of the one identified by its columns.
func (d *decoder) record(t *table, v *record2019) bool {
	if t != nil && t.of2019 != nil {
		return t.of2019(d, v)
	}
	return v.take(d)
}

// take processes a record of the table identified by its columns.
func (v *record2019) take(d *decoder) bool {
	switch {
	case v.StartTime.ok:
		return d.usage2019(v)
	case v.InstanceIndex.ok:
		return d.instance2019(v)
	case v.CollectionID.ok:
		return d.collection2019(v)
	}
	return d.machine2019(v)
}

func decode(line []byte, v *record2019) bool {
	return json.Unmarshal(line, v, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) == nil
}

// kinds2019 are numbered differently from those of 2011.
var kinds2019 = [11]kind{submit, other, other, schedule, evict, fail, finish, kill, lost, other, other}

var names2019 = map[string]int64{
	"SUBMIT": 0, "QUEUE": 1, "ENABLE": 2, "SCHEDULE": 3, "EVICT": 4, "FAIL": 5, "FINISH": 6, "KILL": 7, "LOST": 8,
	"UPDATE_PENDING": 9, "UPDATE_RUNNING": 10,
}

func (v *record2019) kind() (kind, bool) {
	n := v.Type.n
	if !v.Type.ok {
		var known bool
		if n, known = names2019[v.Type.name]; !known && v.Type.name != "" {
			return other, false
		}
	}
	if n < 0 || n >= int64(len(kinds2019)) {
		return other, false
	}
	return kinds2019[n], true
}

// allocSet returns a collection that only reserves resources.
func (v *record2019) allocSet() bool {
	return v.CollectionType.n == 1 || v.CollectionType.name == "ALLOC_SET"
}

func (d *decoder) collection2019(v *record2019) bool {
	if !v.CollectionID.ok {
		return false
	}
	k, ok := v.kind()
	if !ok {
		return false
	}
	if v.allocSet() {
		return true
	}
	e := event{job: v.CollectionID.n, index: -1, time: v.Time.n, kind: k, user: v.User, name: v.LogicalName}
	for _, id := range v.StartAfter {
		if id.ok && len(e.after) < 1000 {
			e.after = append(e.after, id.n)
		}
	}
	d.event(e)
	return true
}

func (d *decoder) instance2019(v *record2019) bool {
	if !v.CollectionID.ok || !v.InstanceIndex.ok || v.InstanceIndex.n < 0 {
		return false
	}
	k, ok := v.kind()
	if !ok {
		return false
	}
	if v.allocSet() {
		return true
	}
	machine := int64(-1)
	if v.MachineID.ok && v.MachineID.n > 0 {
		machine = v.MachineID.n
	}
	d.event(event{job: v.CollectionID.n, index: v.InstanceIndex.n, time: v.Time.n, kind: k, machine: machine})
	return true
}

func (d *decoder) machine2019(v *record2019) bool {
	if !v.MachineID.ok {
		return false
	}
	typ := v.Type.n
	if !v.Type.ok {
		typ = map[string]int64{"ADD": 1, "REMOVE": 2, "UPDATE": 3}[v.Type.name]
	}
	cpus := math.NaN()
	if v.Capacity.CPUs != nil && *v.Capacity.CPUs >= 0 {
		cpus = *v.Capacity.CPUs
	}
	d.machine(machineEvent{v.MachineID.n, v.Time.n, typ, v.PlatformID, v.SwitchID, cpus})
	return true
}

func (d *decoder) usage2019(v *record2019) bool {
	if !v.StartTime.ok || !v.EndTime.ok || !v.MachineID.ok || v.EndTime.n < v.StartTime.n {
		return false
	}
	if v.AllocSet.n > 0 { // the use of the alloc set's instance on the machine contains it
		return true
	}
	cpus := math.NaN()
	if v.AverageUsage.CPUs != nil && *v.AverageUsage.CPUs >= 0 {
		cpus = *v.AverageUsage.CPUs
	}
	d.use(v.MachineID.n, v.StartTime.n, v.EndTime.n, cpus)
	return true
}
