package schema

// Entry is a word or a term and what it means.
type Entry struct{ Word, Meaning string }

// Causes says what each cause is, how it is recognised, and what to do about it. Every Cause has an entry.
func Causes() []Entry {
	return []Entry{
		{string(DataSkew), "the task had more work: bytes or records above the phase's median, times what the regression of the phase says they take. A copy would be as slow; change the keys or the partitions"},
		{string(Network), "it waited for blocks from other machines, as its fetch wait in the log shows, or read more from remote machines than the others. Check the links of its machine, of its sources, or of the rack"},
		{string(BadMachine), "its machine takes longer than predicted in many phases, by a factor with an interval. Drain the host, or let speculation run copies elsewhere"},
		{string(Recompute), "it recomputed an output that had been lost, or waited for one. Find out why the machine or executor went away"},
		{string(GC), "its process collected garbage, for as long as the log says. Give it more memory, or fewer tasks at once"},
		{string(Spill), "it spilled to disk what did not fit into memory. Give it more memory, or make the partitions smaller"},
		{string(Scheduler), "it was delayed between launch and run, or between its end and the scheduler's notice of it"},
		{string(Deserialize), "it deserialized its code and variables, or serialized its result"},
		{string(LocalityMiss), "it ran away from its data, and such tasks are slower in this phase"},
		{string(Startup), "it was among the first of its phase on its machine, or on a new executor: it loaded classes, compiled, connected and filled caches that later tasks find ready. Keep executors between jobs, make tasks larger, or accept it"},
		{string(Transient), "it was slow at that place and time: nothing in the log explains it, and tasks like it were fast elsewhere. A copy would have helped"},
		{string(UnexplainedCause), "too little data to say more; the evidence says what is missing"},
	}
}

// HistoryCauses says what each cause of excess over the usual duration is. Every HistoryCause has an entry.
func HistoryCauses() []Entry {
	return []Entry{
		{string(MoreWork), "the median task of its stage had more input than usual, and took longer accordingly"},
		{string(SharedSlowness), "three quarters of the machines of its phase, or others on its physical node, took longer as well: a data source, a file system, the network, the code, the time of day"},
		{string(SlowMachine), "its machine was slow in this run, compared with the history of the stages whose tasks it ran; machine_health has the interval"},
		{string(Alone), "the rest, which no other task shares. Where the task is slow within its phase too, attributions say why"},
	}
}

// Rules says what each rule calls slow. Every Rule has an entry.
func Rules() []Entry {
	return []Entry{
		{string(HighRuntime), "longer than 1.5 × the median duration of its phase (MANTRI §4.1)"},
		{string(StragglerRule), "progress rate under half of the phase's median rate (DOLLY §2.1.2)"},
		{string(RecomputeRule), "makes an output again that was lost and is waited for (MANTRI §4.1)"},
		{string(LateSlowTask), "what LATE copies: while no task of its phase waits for a slot, slower than three quarters of the phase, with more time left than a copy takes (LATE §4)"},
		{string(SlowerThanUsual), "longer than 1.5 × the usual duration of the same task in earlier executions of its stage, and longer than growth of its input and chance explain; its excess is over the usual duration"},
	}
}

// Glossary lists the project's terms, those of the papers among them, from the log to the report. ARCHITECTURE.md shows it.
// What each cause, rule and law is, Causes, Rules and laws.All say.
func Glossary() []Entry {
	return []Entry{
		{"log", "what a framework wrote about one or more applications; an archived trace of a cluster is one too"},
		{"format", "a kind of log, and the code that reads it"},
		{"input", "one log as straggler reads it: a file, the parts of one, an archive's member"},
		{"record", "what a format decodes at once: a line, an event, a datum"},
		{"reject", "a record that could not be used, with its place and the reason"},
		{"caveat", "what to know before trusting an application's rows, such as a log that was cut"},
		{"trace", "the rows of the log tables that belong together, in memory or in a store"},
		{"NULL", "the log does not say; never 0"},
		{"application", "one run of a program"},
		{"job", "a unit of work that a user waits for"},
		{"phase", "a set of tasks that do the same to different data: a Spark stage attempt, the maps of a Hadoop job"},
		{"task", "the work on one partition of a phase's data"},
		{"attempt", "one execution of a task; a task that fails, or is copied, has several"},
		{"query", "one execution of Spark SQL, which runs jobs"},
		{"plan", "the operators of a query as a tree: as made at first, and as run where adaptive execution (AQE) made it anew"},
		{"operator", "a node of a plan, such as a join or a scan; an exchange moves rows between phases"},
		{"plan fingerprint", "a hash of a plan's operators without what differs from run to run: ids, literals, sizes, numbers of partitions"},
		{"edge", "a dependency of one phase on another's output; a barrier where it waits for all of it"},
		{"machine", "a host of the cluster; its slots are how many attempts it runs at once, its rack is what it shares a switch with"},
		{"locality", "how far an attempt ran from its data: the process, the machine, the rack, elsewhere"},
		{"gang", "tasks that run at the same time and wait for one another, so that none is slow alone"},
		{"work", "what a task has to do, in the bytes and records that it reads"},
		{"duration", "finish − start of an attempt, in seconds"},
		{"progress score", "the share of its work that a running attempt has done, 0 to 1 (LATE §2.1)"},
		{"progress rate", "work / duration (DOLLY §2.1.1); of a running attempt, progress score / time since its start (LATE §4)"},
		{"slowdown ratio", "median progress rate of a phase / its lowest (DOLLY §2.1.1)"},
		{"straggler", "a task with a progress rate below half of its phase's median (DOLLY §2.1.2)"},
		{"outlier", "an attempt that a rule calls slow, usually for longer than 1.5 × its phase's median (MANTRI §4.1)"},
		{"excess", "duration of an outlier − median duration of its phase, in seconds"},
		{"lost time", "how much earlier a phase would have ended with every task at most the median"},
		{"execution", "of a stage: a phase of that program, plan or else name, kind and ordinal; every run of an application has one"},
		{"history", "the executions of a stage that started earlier and are in the store; fewer than three are none"},
		{"usual", "median over the history; what the same task, or the median task of the stage, takes"},
		{"slow as a whole", "of a phase: its median is longer than the history, its input and chance account for, whatever its own outliers are"},
		{"cause", "what seconds of excess are due to, by a name of a fixed list"},
		{"attribution", "the part of an outlier's excess that one cause accounts for; the parts sum to the excess"},
		{"verdict", "the cause with the most seconds of an outlier; of a machine: healthy, slow, flaky or unknown"},
		{"confidence", "the share of such verdicts that are right on labelled logs"},
		{"data skew", "a task has more work than the others of its phase"},
		{"machine factor", "time that a machine takes relative to prediction; 1 = like the others"},
		{"recomputation", "an output that was lost is made again, and others wait for it (MANTRI §4.1)"},
		{"speculation", "to launch a copy of a running task that looks slow, and to take the result of the first to finish"},
		{"copy", "an attempt of a task that already runs"},
		{"clone", "a copy that is launched with the original, before anything is known of it (DOLLY)"},
		{"delay scheduling", "a job that could only run away from its data waits a little for a slot near it (Zaharia et al., EuroSys 2010)"},
		{"policy", "what decides about copies and their places in a replay"},
		{"scheduler", "what decides which job gets a free slot in a simulated cluster"},
		{"replay", "a job of a log played again under a policy; the identity replay, under none, must take as long as the log says"},
		{"saving", "replay without a policy − replay with it, paired over seeds, with an interval"},
		{"ideal", "a policy that no system can have: it removes one cause altogether, as a bound for the others"},
		{"store", "a dataset of Parquet tables that changes by whole commits"},
		{"commit", "a change of a store: all of it is visible, or none"},
		{"engine", "what runs SQL over a store: DuckDB in the process, or Spark SQL on a cluster"},
		{"baseline", "the runs of an application that a nightly audit compares the latest with"},
		{"finding", "what got worse than in the baseline by more than the rules allow, and by more than runs differ anyway"},
		{"law", "what holds of all rows, whatever the log"},
	}
}
