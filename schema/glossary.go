package schema

// Entry is a word of an enum and what it means.
type Entry struct{ Word, Meaning string }

// Causes says what each cause is, how it is told, and what to do about it. Every Cause has an entry.
func Causes() []Entry {
	return []Entry{
		{string(DataSkew), "the task had more to do: bytes or records above the phase's median, priced by the phase's own regression. A copy would be as slow; change the keys or the partitions"},
		{string(Network), "it waited for blocks of other machines, by the log's own fetch wait, or read more from afar than the others. Look at the links of its machine, of its sources, or of the rack"},
		{string(BadMachine), "its machine takes longer than predicted in many phases, by a factor with an interval. Drain the host, or let speculation route around it"},
		{string(Recompute), "it made an output again that had been lost, or waited for one. Look at why the machine or executor went away"},
		{string(GC), "its process collected garbage, by the log's own count. Give it memory, or fewer tasks at once"},
		{string(Spill), "it spilled to disk what did not fit into memory. Give it memory, or more and smaller partitions"},
		{string(Scheduler), "it was delayed between launch and run, or between its end and the scheduler's noticing"},
		{string(Deserialize), "it unpacked its code and variables, or its result; the first tasks of an executor pay for class loading"},
		{string(LocalityMiss), "it ran away from its data, where such tasks are slower in this phase"},
		{string(Transient), "slow there and then: nothing recorded explains it, and tasks like it were fast elsewhere. A copy would have helped"},
		{string(UnexplainedCause), "too little data to say more; the evidence says what is missing"},
	}
}

// Rules says what each rule calls slow. Every Rule has an entry.
func Rules() []Entry {
	return []Entry{
		{string(HighRuntime), "longer than 1.5 × the median duration of its phase (MANTRI §4.1)"},
		{string(StragglerRule), "progress rate under half of the phase's median rate (DOLLY §2.1.2)"},
		{string(RecomputeRule), "makes an output again that was lost and is waited for (MANTRI §4.1)"},
		{string(LateSlowTask), "progress rate under the 25th percentile of its phase while no task waited (LATE §4): a weak sign"},
	}
}
