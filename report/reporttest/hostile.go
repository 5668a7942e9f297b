package reporttest

import (
	"strings"

	"straggler/schema"
)

// Hostile is what a log may carry wherever it carries text.
const Hostile = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>&amp;`id`$(id)\x1b[2J\x1b]0;title\x07\u202Edlrow\u2066\u200b\u0000|**b** [a](https://evil.example/) ```\n# h\r\n' OR 1=1 -- \\ \xff\xfe"

// HostileTrace has it in every text of every table, and tasks slow enough to be shown. Its texts are valid UTF-8, as
// ingest makes them.
func HostileTrace() *schema.Trace {
	m := NewTrace()
	job := m.Job(0, 100)
	slow := make([]float64, 40)
	for i := range slow {
		slow[i] = 1 + float64(i%7)/10
	}
	slow[17], slow[33] = 60, 90
	first := m.Phase(job, 0, slow...)
	second := m.Phase(job, 90, slow[:16]...)
	null := func(s string) schema.Null[string] { return schema.Some(s) }
	a := &m.Applications[0]
	a.NativeID, a.Name, a.User, a.Framework, a.FrameworkVersion, a.SourceFile = Hostile, null(Hostile), null(Hostile), Hostile, null(Hostile), Hostile
	m.Jobs[0].NativeID, m.Jobs[0].Name = Hostile, null(Hostile)
	for i := range m.Phases {
		m.Phases[i].NativeID, m.Phases[i].Name, m.Phases[i].Kind = Hostile, null(Hostile), Hostile
	}
	for i := range m.Attempts {
		t := &m.Attempts[i]
		t.Machine, t.Executor, t.Reason, t.NativeID = null(t.Machine.V+Hostile), null(Hostile), null(Hostile), Hostile+t.NativeID
	}
	m.Edges = []schema.Edge{{JobID: job, FromPhase: first, ToPhase: second, Pattern: schema.AllToAll}}
	m.Settings = []schema.Setting{{ApplicationID: 1, Name: "spark.executor.memory", Value: Hostile},
		{ApplicationID: 1, Name: Hostile, Value: Hostile}, {ApplicationID: 1, Name: "spark.sql.shuffle.partitions", Value: Hostile}}
	m.Caveats = []schema.Caveat{{ApplicationID: 1, Code: Hostile, Detail: Hostile}}
	m.Rejects = []schema.Reject{{SourceFile: Hostile, ByteOffset: 1, Reason: Hostile, Sample: Hostile}}
	validTexts(&m.Trace)
	return &m.Trace
}

// validTexts replaces what is not UTF-8.
func validTexts(tr *schema.Trace) {
	fix := func(s *string) { *s = strings.ToValidUTF8(*s, "\uFFFD") }
	a := &tr.Applications[0]
	for _, s := range []*string{&a.NativeID, &a.Name.V, &a.User.V, &a.Framework, &a.FrameworkVersion.V, &a.SourceFile, &tr.Jobs[0].NativeID, &tr.Jobs[0].Name.V,
		&tr.Caveats[0].Code, &tr.Caveats[0].Detail, &tr.Rejects[0].SourceFile, &tr.Rejects[0].Reason, &tr.Rejects[0].Sample} {
		fix(s)
	}
	for i := range tr.Phases {
		fix(&tr.Phases[i].NativeID)
		fix(&tr.Phases[i].Name.V)
		fix(&tr.Phases[i].Kind)
	}
	for i := range tr.Attempts {
		t := &tr.Attempts[i]
		for _, s := range []*string{&t.Machine.V, &t.Executor.V, &t.Reason.V, &t.NativeID} {
			fix(s)
		}
	}
	for i := range tr.Settings {
		fix(&tr.Settings[i].Name)
		fix(&tr.Settings[i].Value)
	}
}
