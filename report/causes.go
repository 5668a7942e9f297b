package report

import (
	"straggler/report/prose"
	"straggler/schema"
)

// causeInfo describes how a cause is shown. The letter distinguishes it where colour does not.
type causeInfo struct {
	Cause  schema.Cause
	Letter string
	Title  string
	Doc    string
}

// NotOutlier is the cause, in a LostPart, of tasks that ended late without being outliers.
const NotOutlier schema.Cause = ""

var causeTable = [...]causeInfo{
	{schema.BadMachine, "M", "bad machine", "its machine is slower than the others with the same work"},
	{schema.DataSkew, "D", "data skew", "it had more data than the others"},
	{schema.Network, "N", "network", "it waited for data from other machines"},
	{schema.Recompute, "R", "recompute", "it recomputed a lost output, or waited for one"},
	{schema.GC, "G", "gc", "its process collected garbage"},
	{schema.Spill, "S", "spill", "it wrote to disk what did not fit in memory"},
	{schema.Scheduler, "Q", "scheduler", "it waited between launch and run"},
	{schema.Deserialize, "C", "deserialize", "it deserialized its code and variables"},
	{schema.LocalityMiss, "L", "locality", "it did not run where its data was"},
	{schema.Startup, "F", "startup", "it was among the first tasks on its machine or executor, and loaded classes, compiled code and opened connections"},
	{schema.Transient, "T", "transient", "it was slow on that machine at that time, and nothing in the log explains it; a copy elsewhere would have been fast"},
	{schema.UnexplainedCause, "U", "unexplained", "there is too little data to say more"},
	{NotOutlier, "·", "no outlier", "it ended late because it started late or was a little slow; no rule calls it an outlier"},
}

// Causes returns the causes that can be shown, in the order in which lists show them.
func Causes() []schema.Cause {
	var out []schema.Cause
	for _, i := range causeTable {
		if i.Cause != NotOutlier {
			out = append(out, i.Cause)
		}
	}
	return out
}

// InfoOf describes a cause; one that this version does not know keeps its name.
func InfoOf(c schema.Cause) causeInfo {
	for _, i := range causeTable {
		if i.Cause == c {
			return i
		}
	}
	return causeInfo{Cause: schema.UnexplainedCause, Letter: "?", Title: prose.Clean(string(c), 24), Doc: "a cause this version does not know"}
}

// causeOrder returns the index of a cause in the table; a cause that this version does not know counts as unexplained.
func causeOrder(c schema.Cause) int {
	unexplained := 0
	for i := range causeTable {
		switch causeTable[i].Cause {
		case c:
			return i
		case schema.UnexplainedCause:
			unexplained = i
		}
	}
	return unexplained
}

// BadVerdict reports whether a machine was slow, always or at times.
func BadVerdict(v schema.Verdict) bool { return v == schema.Slow || v == schema.Flaky }
