package schema

// Entry is a word or term with its meaning.
type Entry struct{ Word, Meaning string }

// Causes explains each Cause, how it is recognised, and what to do about it.
func Causes() []Entry {
	return []Entry{
		{string(DataSkew), "the task had more work: its bytes or records above the phase's median, times the seconds that each takes by the regression of the phase. A copy would be as slow; change the keys or the partitions"},
		{string(Network), "it waited for blocks from other machines, according to the fetch wait in the log, or read more from remote machines than the others. Check the links of its machine, of its sources, or of the rack"},
		{string(BadMachine), "its machine takes longer than predicted in many phases, by a factor given with its interval. Drain the machine, or let speculation run copies elsewhere"},
		{string(Recompute), "it recomputed an output that had been lost, or waited for one to be recomputed. Find out why the machine or executor went away"},
		{string(GC), "its process collected garbage, for the time given in the log. Give it more memory, or fewer tasks at once"},
		{string(Spill), "it spilled data to disk that did not fit into memory. Give it more memory, or make the partitions smaller"},
		{string(Scheduler), "it was delayed between its launch and its start, or between its end and the moment the scheduler noticed"},
		{string(Deserialize), "it took long to deserialize its code and variables, or to serialize its result"},
		{string(LocalityMiss), "it did not run where its data was, and such tasks are slower in this phase"},
		{string(Startup), "it was among the first tasks of its phase on its machine, or on a new executor, and loaded classes, compiled code, opened connections and filled caches for later tasks. Keep executors between jobs, make tasks larger, or accept it"},
		{string(Transient), "it was slow on that machine at that time: nothing in the log explains it, and similar tasks were fast elsewhere. A copy would have helped"},
		{string(UnexplainedCause), "there is too little data to say more; the evidence says what is missing"},
	}
}

// HistoryCauses explains each HistoryCause.
func HistoryCauses() []Entry {
	return []Entry{
		{string(MoreWork), "the median task of its stage had more input than usual, and took longer accordingly"},
		{string(SharedSlowness), "at least three quarters of the machines of its phase, or others on its physical node, took longer too: the reason may be a data source, a file system, the network, the code or the time of day"},
		{string(SlowMachine), "its machine was slow in this run, compared with the history of the stages whose tasks it ran; machine_health has the interval"},
		{string(Alone), "the rest, which no other task shares. If the task is slow within its phase too, attributions says why"},
	}
}

// Rules describes the attempts that each Rule calls slow.
func Rules() []Entry {
	return []Entry{
		{string(HighRuntime), "longer than 1.5 × the median duration of its phase (MANTRI §4.1)"},
		{string(StragglerRule), "progress rate below half the median rate of its phase (DOLLY §2.1.2)"},
		{string(RecomputeRule), "recomputes a lost output that other tasks wait for (MANTRI §4.1)"},
		{string(LateSlowTask), "a task that LATE would copy: when no task of its phase waits for a slot, it is slower than three quarters of the phase and has more time left than a copy takes (LATE §4)"},
		{string(SlowerThanUsual), "longer than 1.5 × the usual duration of the same task in earlier executions of its stage, and longer than chance and the growth of its input explain; its excess is measured from the usual duration"},
	}
}

// Glossary lists the project's terms, including those of the papers, in the order from log to report. ARCHITECTURE.md shows it.
// Causes, Rules and laws.All explain the single causes, rules and laws.
func Glossary() []Entry {
	return []Entry{
		{"log", "what a framework wrote about one or more applications, or an archived trace of a cluster"},
		{"format", "a kind of log, and the code that reads it"},
		{"input", "one log as straggler reads it: a file, a set of parts, or a member of an archive"},
		{"record", "the unit that a format decodes: a line, an event, a datum"},
		{"reject", "a record that could not be used, with its position and the reason"},
		{"caveat", "something to know before trusting an application's rows, such as that its log was cut off"},
		{"trace", "the rows of the log tables that belong to one log or cluster, in memory or in a store"},
		{"NULL", "unknown: the log does not say; unknown is never 0"},
		{"application", "one run of a program"},
		{"job", "a unit of work that a user waits for"},
		{"phase", "a set of tasks that do the same work on different data: a Spark stage attempt, the maps of a Hadoop job"},
		{"task", "the work on one partition of a phase's data"},
		{"attempt", "one execution of a task; a task that fails, or is copied, has several"},
		{"query", "one execution of Spark SQL, which may run several jobs"},
		{"plan", "the tree of a query's operators: the initial one, and the final one if adaptive execution (AQE) changed it"},
		{"operator", "a node of a plan, such as a join or a scan; an exchange moves rows between phases"},
		{"plan fingerprint", "a hash of a plan's operators that ignores what differs between runs: ids, literals, sizes, numbers of partitions"},
		{"edge", "a dependency of one phase on another's output; a barrier if it waits for all of it"},
		{"machine", "a host of the cluster; it runs as many attempts at once as it has slots, and shares a switch with the machines of its rack"},
		{"node", "the physical machine of several machines of a log, such as containers, where their names say which it is"},
		{"locality", "the distance between an attempt and its data: same process, same machine, same rack, elsewhere"},
		{"gang", "tasks that run at the same time and wait for one another, so that one slow task delays all"},
		{"work", "the amount a task has to do, measured by the bytes and records that it reads"},
		{"duration", "finish − start of an attempt, in seconds"},
		{"progress score", "the share of its work that a running attempt has completed, 0 to 1 (LATE §2.1)"},
		{"progress rate", "work / duration (DOLLY §2.1.1); of a running attempt, progress score / time since its start (LATE §4)"},
		{"slowdown ratio", "median progress rate of a phase / its lowest (DOLLY §2.1.1)"},
		{"straggler", "a task with a progress rate below half of its phase's median (DOLLY §2.1.2)"},
		{"outlier", "an attempt that a rule calls slow, usually for longer than 1.5 × its phase's median (MANTRI §4.1)"},
		{"excess", "duration of an outlier − median duration of its phase, in seconds"},
		{"lost time", "how much earlier a phase would have ended had no task taken longer than the median"},
		{"stage", "the phase that does the same part of the work in every run of a program, matched by the query's plan or by name; in Spark's words also a phase"},
		{"execution", "of a stage: the phase in one run of the program with the stage's plan (or name, if there is no plan), kind and ordinal"},
		{"history", "the earlier executions of a stage in the store; with fewer than three there is no history"},
		{"usual", "the median over the history, of the same task or of the stage's median task"},
		{"slow as a whole", "of a phase: its median is longer than its history, its input and chance explain, whether or not it has outliers"},
		{"cause", "what seconds of excess are due to, one of a fixed list"},
		{"attribution", "the part of an outlier's excess that one cause accounts for; the parts sum to the excess"},
		{"verdict", "of an outlier: the cause with the most seconds; of a machine: healthy, slow, flaky or unknown"},
		{"confidence", "the share of such verdicts that are right on labelled logs"},
		{"data skew", "a task has more work than the others of its phase"},
		{"machine factor", "the duration of a machine's tasks relative to prediction; 1 = like the other machines"},
		{"recomputation", "a lost output is computed again while other tasks wait for it (MANTRI §4.1)"},
		{"speculation", "launching a copy of a running task that looks slow, and using the result of whichever finishes first"},
		{"copy", "an attempt of a task that is already running"},
		{"clone", "a copy that is launched together with the original, before it can look slow (DOLLY)"},
		{"delay scheduling", "a job that is offered only slots far from its data waits a little for a nearer one (Zaharia et al., EuroSys 2010)"},
		{"policy", "what decides which tasks of a replay are copied, and where"},
		{"scheduler", "what decides which job gets a free slot of a simulated cluster"},
		{"replay", "a simulation of a logged job under a policy; the identity replay, under policy none, must take as long as the log says"},
		{"saving", "completion time of the replay without a policy − that of the replay with it, paired by seed, with an interval"},
		{"ideal", "a policy that no real system can have: it removes one cause completely, and bounds what real policies can save"},
		{"store", "a set of Parquet tables that changes by atomic commits"},
		{"commit", "an atomic change of a store: readers see all of it or nothing"},
		{"engine", "what runs SQL over a store: DuckDB in this process, or Spark SQL on a cluster"},
		{"baseline", "the earlier runs of an application that a nightly audit compares the latest run with"},
		{"finding", "a measure that is worse than in the baseline by more than the rules allow and by more than normal variation"},
		{"law", "a condition that all rows satisfy, whatever the log"},
	}
}
