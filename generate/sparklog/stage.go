package sparklog

import (
	"strconv"

	"straggler/schema"
	"straggler/schema/synth"
)

func (l *Writer) jobStarted(e *synth.Event, at int64) {
	l.raw(`{"Event":"SparkListenerJobStart","Job ID":`).raw(e.Job.NativeID).raw(`,"Submission Time":`).int(at).raw(`,"Stage Infos":[`)
	for i := range e.Plan {
		p := &e.Plan[i]
		id, _ := strconv.ParseInt(p.Phase.NativeID, 10, 64) // written by synth
		s := &stage{id: id, job: e.Job.JobID, tasks: p.Phase.TaskCount.V, name: p.Phase.Name.V, parents: p.Parents, result: p.Phase.Kind == "result"}
		l.stages[p.Phase.NativeID] = s
		if i > 0 {
			l.raw(",")
		}
		l.stageInfo(s, 0, s.tasks)
		l.infoEnd()
	}
	l.raw(`],"Stage IDs":[`)
	for i := range e.Plan {
		if i > 0 {
			l.raw(",")
		}
		l.raw(e.Plan[i].Phase.NativeID)
	}
	l.raw(`],"Properties":{"spark.rdd.scope.noOverride":"true"}}` + "\n")
}

func (l *Writer) jobEnded(e *synth.Event, at int64) {
	l.raw(`{"Event":"SparkListenerJobEnd","Job ID":`).raw(e.Job.NativeID).raw(`,"Completion Time":`).int(at).raw(`,"Job Result":{"Result":`)
	if e.Job.Status == schema.RunSucceeded {
		l.raw(`"JobSucceeded"}}` + "\n")
	} else {
		l.raw(`"JobFailed","Exception":{"Message":"Job aborted due to stage failure","Stack Trace":[]}}}` + "\n")
	}
	for native, s := range l.stages { // in any order: they are forgotten
		if s.job == e.Job.JobID {
			l.forget(native, s)
		}
	}
}

// forget removes a stage whose job has ended.
func (l *Writer) forget(native string, s *stage) {
	for _, k := range s.phases {
		delete(l.phases, k)
	}
	delete(l.stages, native)
}

func (l *Writer) stageInfo(s *stage, number int32, tasks int64) {
	l.raw(`{"Stage ID":`).int(s.id).raw(`,"Stage Attempt ID":`).int(int64(number)).raw(`,"Stage Name":`).text(s.name).
		raw(`,"Number of Tasks":`).int(tasks).raw(`,"RDD Info":[{"RDD ID":`).int(2*s.id + 1).
		raw(`,"Name":"MapPartitionsRDD","Callsite":`).text(s.name).raw(`,"Parent IDs":[`).int(2 * s.id).raw(storage).int(s.tasks).raw(cached)
	if len(s.parents) == 0 {
		l.raw(`,{"RDD ID":`).int(2 * s.id).raw(`,"Name":"HadoopRDD","Callsite":`).text(s.name).raw(`,"Parent IDs":[`)
	} else {
		l.raw(`,{"RDD ID":`).int(2 * s.id).raw(`,"Name":"ShuffledRDD","Callsite":`).text(s.name).raw(`,"Parent IDs":[`)
		for i, p := range s.parents {
			id, _ := strconv.ParseInt(p, 10, 64)
			if i > 0 {
				l.raw(",")
			}
			l.int(2*id + 1)
		}
	}
	l.raw(storage).int(s.tasks).raw(cached).raw(`],"Parent IDs":[`)
	for i, p := range s.parents {
		if i > 0 {
			l.raw(",")
		}
		l.raw(p)
	}
	l.raw(`],"Details":`).text("synth.Main$.main(" + s.name + ")")
}

const (
	storage = `],"Storage Level":{"Use Disk":false,"Use Memory":false,"Use Off Heap":false,"Deserialized":false,"Replication":1},"Barrier":false,"DeterministicLevel":"DETERMINATE","Number of Partitions":`
	cached  = `,"Number of Cached Partitions":0,"Memory Size":0,"Disk Size":0}`
)

func (l *Writer) infoEnd() *Writer {
	return l.raw(`,"Accumulables":[],"Resource Profile Id":0,"Shuffle Push Enabled":false,"Shuffle Push Mergers Count":0}`)
}

func (l *Writer) stageSubmitted(p *schema.Phase) {
	s := l.stages[p.NativeID]
	if s == nil {
		return
	}
	n := &sent{stage: s, number: p.Attempt}
	if p.Attempt > 0 {
		n.index = map[int64]int64{}
	}
	l.phases[p.PhaseID] = n
	s.phases = append(s.phases, p.PhaseID)
	l.raw(`{"Event":"SparkListenerStageSubmitted","Stage Info":`)
	l.stageInfo(s, p.Attempt, p.TaskCount.V)
	l.raw(`,"Submission Time":`).int(int64(p.SubmitTime.V) / 1000)
	l.infoEnd().raw(`,"Properties":{"resource.executor.cores":"1","spark.rdd.scope.noOverride":"true"}}` + "\n")
}

func (l *Writer) stageCompleted(e *synth.Event, at int64) {
	p := e.Phase
	s := l.stages[p.NativeID]
	if s == nil {
		return
	}
	l.raw(`{"Event":"SparkListenerStageCompleted","Stage Info":`)
	l.stageInfo(s, p.Attempt, p.TaskCount.V)
	l.raw(`,"Submission Time":`).int(int64(p.SubmitTime.V) / 1000).raw(`,"Completion Time":`).int(at)
	if p.Status != schema.RunSucceeded {
		l.raw(`,"Failure Reason":`).text(e.Reason)
	}
	l.infoEnd().raw("}\n")
}
