package spark

import (
	"bytes"
	"slices"
	"strings"

	"straggler/ingest/read"
	"straggler/schema"
)

// pullLogStart gives the version of Spark, "" where it is not said.
func (d *decoder) pullLogStart() (version string) {
	for p := &d.pull; p.Key(); {
		if string(p.Name) == "Spark Version" {
			version = d.text()
		} else {
			p.Skip()
		}
	}
	return version
}

func (d *decoder) pullApplicationStart() application {
	a := application{time: none}
	for p := &d.pull; p.Key(); {
		switch string(p.Name) {
		case "App Name":
			a.name = d.optional()
		case "App ID":
			a.id = d.text()
		case "App Attempt ID":
			a.attempt = d.text()
		case "User":
			a.user = d.optional()
		case "Timestamp":
			a.time = d.integer()
		default:
			p.Skip()
		}
	}
	return a
}

// optional reads a string, NULL where there is none.
func (d *decoder) optional() schema.Null[string] {
	b, ok := d.pull.Str()
	if !ok {
		return schema.Null[string]{}
	}
	return schema.Some(d.intern.Text(b))
}

func (d *decoder) pullApplicationEnd() ended {
	e := ended{time: none}
	for p := &d.pull; p.Key(); {
		switch string(p.Name) {
		case "Timestamp":
			e.time = d.integer()
		case "ExitCode":
			if v, ok := p.Number(); ok {
				e.code = schema.Some(v)
			}
		default:
			p.Skip()
		}
	}
	return e
}

func (d *decoder) pullEnvironment() []property {
	var props []property
	for p := &d.pull; p.Key(); {
		if string(p.Name) != "Spark Properties" {
			p.Skip()
			continue
		}
		for ok := p.Object(); ok && p.Key(); {
			name := string(p.Name)
			value, ok := p.Str()
			if ok && keepProperty(name, value) && len(props) < maxProperties {
				props = append(props, property{read.Text(name), read.Text(string(value))})
			}
		}
	}
	return props
}

func (d *decoder) pullJobStart() (jobStart, string) {
	j := jobStart{id: none, time: none}
	var ids []int64
	for p := &d.pull; p.Key(); {
		switch string(p.Name) {
		case "Job ID":
			j.id = d.integer()
		case "Submission Time":
			j.time = d.integer()
		case "Stage Infos":
			for ok := p.Array(); ok && p.Elem(); {
				if s := d.pullStageInfo(); s.id >= 0 {
					s.attempt = max(s.attempt, 0)
					j.stages = append(j.stages, s)
				}
			}
		case "Stage IDs":
			ids = d.integers()
		case "Properties":
			j.description = d.pullDescription()
		default:
			p.Skip()
		}
	}
	if j.id < 0 {
		return j, "it has no Job ID"
	}
	j.addIDs(ids)
	return j, ""
}

// addIDs adds the stages that only `Stage IDs` names, as it is with every stage before Spark 1.2.
func (j *jobStart) addIDs(ids []int64) {
	known := make(map[int64]bool, len(ids))
	for _, s := range j.stages {
		known[s.id] = true
	}
	for _, id := range ids {
		if id >= 0 && !known[id] {
			known[id] = true
			j.stages = append(j.stages, stageInfo{id: id, tasks: none, rdd: none, partitions: none, submit: none, complete: none})
		}
	}
}

func (d *decoder) pullDescription() (description string) {
	p := &d.pull
	for ok := p.Object(); ok && p.Key(); {
		if string(p.Name) == "spark.job.description" {
			b, _ := p.Str()
			description = d.oneLine(b)
		} else {
			p.Skip()
		}
	}
	return description
}

// maxName bounds the name of a job or stage: a description may be the text of a query.
const maxName = 500

// oneLine makes a name of a text: white space and what is no text become single blanks.
func (d *decoder) oneLine(b []byte) string {
	cut := len(b) > maxName
	b = b[:min(len(b), maxName)]
	if plainLine(b) {
		return d.intern.Text(b)
	}
	s := strings.Join(strings.Fields(strings.ToValidUTF8(string(b), " ")), " ")
	if cut {
		s += "…"
	}
	return read.Text(s)
}

// plainLine tells whether a text is a name as it stands.
func plainLine(b []byte) bool {
	for i, c := range b {
		if c < ' ' || c >= 0x7f || c == ' ' && (i == 0 || i == len(b)-1 || b[i-1] == ' ') {
			return false
		}
	}
	return len(b) < maxName
}

func (d *decoder) integers() (ids []int64) {
	p := &d.pull
	for ok := p.Array(); ok && p.Elem(); {
		ids = append(ids, d.integer())
	}
	return ids
}

func (d *decoder) pullJobEnd() (jobEnd, string) {
	j := jobEnd{id: none, time: none, status: schema.RunUnknown}
	for p := &d.pull; p.Key(); {
		switch string(p.Name) {
		case "Job ID":
			j.id = d.integer()
		case "Completion Time":
			j.time = d.integer()
		case "Job Result":
			j.status = d.pullJobResult()
		default:
			p.Skip()
		}
	}
	if j.id < 0 {
		return j, "it has no Job ID"
	}
	return j, ""
}

// pullJobResult reads how a job ended. A job that somebody stopped has failed with a message that says so: "Job 3
// cancelled …", in some versions "Job 3 was cancelled".
func (d *decoder) pullJobResult() schema.RunStatus {
	p := &d.pull
	status, cancelled := schema.RunUnknown, false
	for ok := p.Object(); ok && p.Key(); {
		switch string(p.Name) {
		case "Result":
			switch name, _ := p.Str(); string(name) {
			case "JobSucceeded":
				status = schema.RunSucceeded
			case "JobFailed":
				status = schema.RunFailed
			}
		case "Exception":
			for ok := p.Object(); ok && p.Key(); {
				if string(p.Name) == "Message" {
					message, _ := p.Str()
					cancelled = saysCancelled(message)
				} else {
					p.Skip()
				}
			}
		default:
			p.Skip()
		}
	}
	if status == schema.RunFailed && cancelled {
		return schema.RunKilled
	}
	return status
}

// saysCancelled reports whether the failure of a job or stage is that somebody stopped it.
func saysCancelled(message []byte) bool {
	message = message[:min(len(message), 80)]
	return (bytes.HasPrefix(message, []byte("Job ")) || bytes.HasPrefix(message, []byte("Stage "))) && bytes.Contains(message, []byte("cancelled"))
}

func (d *decoder) pullStage() (stageInfo, string) {
	s := stageInfo{id: none}
	for p := &d.pull; p.Key(); {
		if string(p.Name) == "Stage Info" {
			s = d.pullStageInfo()
		} else {
			p.Skip()
		}
	}
	if s.id < 0 {
		return s, "it has no Stage ID"
	}
	if s.attempt < 0 {
		return s, "its Stage Attempt ID is no count"
	}
	return s, ""
}

func (d *decoder) pullStageInfo() stageInfo {
	s := stageInfo{id: none, tasks: none, rdd: none, partitions: none, submit: none, complete: none}
	p := &d.pull
	for ok := p.Object(); ok && p.Key(); {
		switch string(p.Name) {
		case "Stage ID":
			s.id = d.integer()
		case "Stage Attempt ID":
			s.attempt = d.small()
		case "Stage Name":
			b, _ := p.Str()
			s.name = d.oneLine(b)
		case "Number of Tasks":
			s.tasks = d.integer()
		case "RDD Info":
			d.pullRDDs(&s)
		case "Parent IDs":
			s.parents, s.hasParents = d.integers(), true
			slices.Sort(s.parents)
			s.parents = slices.Compact(s.parents)
		case "Submission Time":
			s.submit = d.integer()
		case "Completion Time":
			s.complete = d.integer()
		case "Failure Reason":
			s.failure = d.firstLine()
		case "Resource Profile Id":
			s.profile = max(d.integer(), 0)
		default:
			p.Skip()
		}
	}
	if s.hasParents {
		s.rdds, s.rddParents = nil, nil
	}
	return s
}

// pullRDDs reads a `RDD Info`: a list, or in Spark 1.0 a single one.
func (d *decoder) pullRDDs(s *stageInfo) {
	if d.pull.Peek() == '{' {
		d.pullRDD(s)
		return
	}
	for ok := d.pull.Array(); ok && d.pull.Elem(); {
		d.pullRDD(s)
	}
}

func (d *decoder) pullRDD(s *stageInfo) {
	p := &d.pull
	id, partitions := int64(none), int64(none)
	for ok := p.Object(); ok && p.Key(); {
		switch string(p.Name) {
		case "RDD ID":
			id = d.integer()
		case "Number of Partitions":
			partitions = d.integer()
		case "Parent IDs":
			s.rddParents = append(s.rddParents, d.integers()...)
		case "Barrier":
			v, _ := p.Flag()
			s.barrier = s.barrier || v
		default:
			p.Skip()
		}
	}
	if len(s.rdds) == 0 {
		s.rdd, s.partitions = id, partitions
	}
	s.rdds = append(s.rdds, id)
}

func (d *decoder) pullExecutorAdded() (executorAdded, string) {
	e := executorAdded{cores: none, time: none}
	for p := &d.pull; p.Key(); {
		switch string(p.Name) {
		case "Executor ID":
			e.id = d.text()
		case "Timestamp":
			e.time = d.integer()
		case "Executor Info":
			for ok := p.Object(); ok && p.Key(); {
				switch string(p.Name) {
				case "Host":
					e.host = d.text()
				case "Total Cores":
					e.cores = d.integer()
				case "Resource Profile Id":
					e.profile = max(d.integer(), 0)
				default:
					p.Skip()
				}
			}
		default:
			p.Skip()
		}
	}
	if e.id == "" {
		return e, "it has no Executor ID"
	}
	return e, ""
}

func (d *decoder) pullExecutorRemoved() (executorRemoved, string) {
	e := executorRemoved{time: none}
	for p := &d.pull; p.Key(); {
		switch string(p.Name) {
		case "Executor ID":
			e.id = d.text()
		case "Timestamp":
			e.time = d.integer()
		default:
			p.Skip()
		}
	}
	if e.id == "" {
		return e, "it has no Executor ID"
	}
	return e, ""
}

func (d *decoder) pullBlockManager() (blockManager, string) {
	m := blockManager{time: none}
	for p := &d.pull; p.Key(); {
		switch string(p.Name) {
		case "Block Manager ID":
			m.executor, m.host = d.pullAddress()
		case "Timestamp":
			m.time = d.integer()
		default:
			p.Skip()
		}
	}
	if m.executor == "" {
		return m, "it has no Executor ID"
	}
	return m, ""
}

func (d *decoder) pullResourceProfile() resourceProfile {
	r := resourceProfile{id: none}
	for p := &d.pull; p.Key(); {
		switch string(p.Name) {
		case "Resource Profile Id":
			r.id = d.integer()
		case "Task Resource Requests":
			for ok := p.Object(); ok && p.Key(); {
				if string(p.Name) != "cpus" {
					p.Skip()
					continue
				}
				for ok := p.Object(); ok && p.Key(); {
					if string(p.Name) == "Amount" {
						r.taskCPUs, _ = p.Float()
					} else {
						p.Skip()
					}
				}
			}
		default:
			p.Skip()
		}
	}
	return r
}
