package laws

import (
	"fmt"

	"straggler/schema"
)

// Law is a law of rows, identified by a short stable name. Laws that compare values apply only if all of them are known.
type Law string

const (
	PositiveKey   Law = "positive_key"
	UniqueKey     Law = "unique"
	KnownKey      Law = "reference"
	ListedValue   Law = "value"
	NonNegative   Law = "non_negative"
	Fraction      Law = "fraction"
	Text          Law = "text"
	Mask          Law = "mask"
	Order         Law = "order"
	Duration      Law = "duration"
	StillRunning  Law = "running"
	Window        Law = "window"
	TaskIndex     Law = "task"
	AttemptNumber Law = "number"
	Bytes         Law = "bytes"
	Part          Law = "part"
	Owner         Law = "owner"
	EdgeOnce      Law = "edge"
	LostOutput    Law = "loss"
	SkippedPhase  Law = "skipped"
	MachineOnce   Law = "machine_unique"
	SettingOnce   Law = "setting_unique"
	PlanOrder     Law = "plan"
	RejectSays    Law = "reject"
	AllRecords    Law = "records"
)

// All lists the laws, each with its statement.
func All() []schema.Entry {
	return []schema.Entry{
		{Word: string(PositiveKey), Meaning: "a key is above 0"},
		{Word: string(UniqueKey), Meaning: "no two rows have the same primary key"},
		{Word: string(KnownKey), Meaning: "a key of another table is the key of a row there"},
		{Word: string(ListedValue), Meaning: "a column with a list of values holds one of them"},
		{Word: string(NonNegative), Meaning: "no number is negative, infinite or NaN"},
		{Word: string(Fraction), Meaning: "a fraction is at most 1"},
		{Word: string(Text), Meaning: "text is valid UTF-8"},
		{Word: string(Mask), Meaning: "quality has declared bits only"},
		{Word: string(Order), Meaning: "submitted ≤ started ≤ finished, added ≤ removed"},
		{Word: string(Duration), Meaning: "duration_s is finish − start to the microsecond; known when both are, and else only in a partial row"},
		{Word: string(StillRunning), Meaning: "what still runs has no finish"},
		{Word: string(Window), Meaning: "an attempt lies inside its phase, a progress sample inside its attempt"},
		{Word: string(TaskIndex), Meaning: "an index of a task is below task_count, and no more tasks have attempts than that"},
		{Word: string(AttemptNumber), Meaning: "the number of an attempt is unique in its task"},
		{Word: string(Bytes), Meaning: "local + remote ≤ input bytes, cross-rack ≤ remote bytes"},
		{Word: string(Part), Meaning: "a measured part of an attempt is not longer than the attempt, but for the rounding of logs"},
		{Word: string(Owner), Meaning: "the job of an attempt is that of its phase, its application that of its job, and edges stay in both"},
		{Word: string(EdgeOnce), Meaning: "an edge joins two phases once, and edges have no cycle"},
		{Word: string(LostOutput), Meaning: "a lost output was made by an attempt of its task, and is made again by another, after the loss"},
		{Word: string(SkippedPhase), Meaning: "a skipped phase has no attempts"},
		{Word: string(MachineOnce), Meaning: "an executor of a machine is added once at a time"},
		{Word: string(SettingOnce), Meaning: "a setting of an application has one value"},
		{Word: string(PlanOrder), Meaning: "an operator stands behind the one that reads it, in the same plan of the same query, and what it counted or where it ran is said of its own query"},
		{Word: string(RejectSays), Meaning: "a reject names its file, its line from 1, and the reason"},
		{Word: string(AllRecords), Meaning: "records read = records decoded + rejects"},
	}
}

// Violation is a row that violates a law of its table.
type Violation struct {
	Table  string
	Key    string // of the row: its first column, or the columns that are unique together
	Column string // the column, or one of those that contradict one another
	Law    Law
	Value  string // what was found
}

func (v Violation) String() string {
	return fmt.Sprintf("%s %s: %s: %s: %s", v.Table, v.Key, v.Column, v.Law, v.Value)
}

// Report receives violations as they are found.
type Report func(Violation)

func (r Report) add(table string, key any, column string, law Law, format string, args ...any) {
	r(Violation{table, fmt.Sprint(key), column, law, fmt.Sprintf(format, args...)})
}
