package schema

// The values of the enum columns about plans.

// PlanStage is the one of a query's plans that an operator belongs to.
type PlanStage string

const (
	InitialPlan PlanStage = "initial" // as planned before the query ran
	FinalPlan   PlanStage = "final"   // as it ran, or the last plan in the log
)

func (PlanStage) Values() []string { return []string{string(InitialPlan), string(FinalPlan)} }

// NodeKind is the kind of an operator.
type NodeKind string

const (
	ScanNode        NodeKind = "scan"
	FilterNode      NodeKind = "filter"
	ProjectNode     NodeKind = "project"
	JoinNode        NodeKind = "join"
	AggregateNode   NodeKind = "aggregate"
	WindowNode      NodeKind = "window"
	SortNode        NodeKind = "sort"
	ExchangeNode    NodeKind = "exchange"     // a shuffle
	BroadcastNode   NodeKind = "broadcast"    // an exchange that sends everything to every task
	ShuffleReadNode NodeKind = "shuffle_read" // reads partitions of an exchange, coalesced or split by adaptive execution
	WrapperNode     NodeKind = "wrapper"      // computes nothing itself: generated code, a query stage, an adapter
	WriteNode       NodeKind = "write"
	OtherNode       NodeKind = "other"
)

func (NodeKind) Values() []string {
	return []string{string(ScanNode), string(FilterNode), string(ProjectNode), string(JoinNode), string(AggregateNode), string(WindowNode),
		string(SortNode), string(ExchangeNode), string(BroadcastNode), string(ShuffleReadNode), string(WrapperNode), string(WriteNode), string(OtherNode)}
}

// Native is the engine that runs an operator.
type Native string

const (
	SparkEngine  Native = "spark"
	PhotonEngine Native = "photon"
	RapidsEngine Native = "rapids"
	GlutenEngine Native = "gluten"
	CometEngine  Native = "comet"
)

func (Native) Values() []string {
	return []string{string(SparkEngine), string(PhotonEngine), string(RapidsEngine), string(GlutenEngine), string(CometEngine)}
}

// Side is an input of a join.
type Side string

const (
	LeftSide  Side = "left"
	RightSide Side = "right"
)

func (Side) Values() []string { return []string{string(LeftSide), string(RightSide)} }

// NodeRole is the part of an operator that ran in a phase.
type NodeRole string

const (
	NodeRuns   NodeRole = "runs"
	NodeWrites NodeRole = "writes" // an exchange: the phase partitions its input
	NodeReads  NodeRole = "reads"  // an exchange: the phase reads its partitions
)

func (NodeRole) Values() []string {
	return []string{string(NodeRuns), string(NodeWrites), string(NodeReads)}
}

// NodeBasis is how it is known that an operator ran in a phase.
type NodeBasis string

const (
	ByAccumulators NodeBasis = "accumulators" // the phase has values of the operator's metrics
	// the operator lies between the same exchanges as one with such values, or the phases are connected as the exchanges are
	ByStructure NodeBasis = "structure"
)

func (NodeBasis) Values() []string { return []string{string(ByAccumulators), string(ByStructure)} }

// MetricUnit is the unit of an operator's metric.
type MetricUnit string

const (
	UnitCount   MetricUnit = "count"
	UnitBytes   MetricUnit = "bytes"
	UnitSeconds MetricUnit = "s"
)

func (MetricUnit) Values() []string {
	return []string{string(UnitCount), string(UnitBytes), string(UnitSeconds)}
}

// FindingKind is the kind of a finding about a query.
type FindingKind string

const (
	SkewedKeys FindingKind = "skewed_keys" // an exchange brought together more rows of some keys than of others
	SkewedScan FindingKind = "skewed_scan" // some files or splits of a table hold more rows than others
	SplitByAQE FindingKind = "split"       // adaptive execution split skewed partitions already

	ExplodingJoin  FindingKind = "exploding_join"  // a join produced many times the rows of its larger input
	ShuffledSmall  FindingKind = "shuffled_small"  // a join shuffled both sides although one is small enough for a broadcast
	LargeBroadcast FindingKind = "large_broadcast" // a join broadcast a side that is too large for that
)

// IsSkew reports whether a finding is about slow tasks whose data was skewed.
func (k FindingKind) IsSkew() bool { return k == SkewedKeys || k == SkewedScan }

func (FindingKind) Values() []string {
	return []string{string(SkewedKeys), string(SkewedScan), string(SplitByAQE), string(ExplodingJoin), string(ShuffledSmall), string(LargeBroadcast)}
}

// Remedy is what would help with a finding.
type Remedy string

const (
	SplitJoin   Remedy = "split_join"  // adaptive execution splits the partition, if the settings let it
	Broadcast   Remedy = "broadcast"   // the other side is small enough to be sent to every task, so that neither is shuffled
	Rebalance   Remedy = "rebalance"   // a repartitioning whose keys nothing relies on may be split
	SaltKeys    Remedy = "salt_keys"   // in two steps, the first by a finer key
	SplitFiles  Remedy = "split_files" // smaller files or splits
	NoneApplies Remedy = "none"

	ShuffleJoin  Remedy = "shuffle_join"  // both sides by the keys, so that neither is held whole
	FewerMatches Remedy = "fewer_matches" // make the keys unique in one input, or join by one more column
)

func (Remedy) Values() []string {
	return []string{string(SplitJoin), string(Broadcast), string(Rebalance), string(SaltKeys), string(SplitFiles),
		string(NoneApplies), string(ShuffleJoin), string(FewerMatches)}
}
