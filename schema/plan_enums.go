package schema

// The values of the columns of plans that have few.

// PlanStage says which plan of a query an operator is of.
type PlanStage string

const (
	InitialPlan PlanStage = "initial" // as it was made before the query ran
	FinalPlan   PlanStage = "final"   // as it ran, or the last that the log has
)

func (PlanStage) Values() []string { return []string{string(InitialPlan), string(FinalPlan)} }

// NodeKind is what an operator of a plan does.
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
	BroadcastNode   NodeKind = "broadcast"    // an exchange that gives all to every task
	ShuffleReadNode NodeKind = "shuffle_read" // what adaptive execution makes of the partitions of an exchange
	WrapperNode     NodeKind = "wrapper"      // it computes nothing: generated code, a stage of the query, an adapter
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

// NodeRole is what of an operator runs in a phase.
type NodeRole string

const (
	NodeRuns   NodeRole = "runs"
	NodeWrites NodeRole = "writes" // an exchange: its input is partitioned there
	NodeReads  NodeRole = "reads"  // an exchange: its partitions are read there
)

func (NodeRole) Values() []string {
	return []string{string(NodeRuns), string(NodeWrites), string(NodeReads)}
}

// NodeBasis is how it is known that an operator ran in a phase.
type NodeBasis string

const (
	ByAccumulators NodeBasis = "accumulators" // the phase has values of the operator's metrics
	// it lies between the same exchanges as one that has, or the phases are joined as the exchanges are
	ByStructure NodeBasis = "structure"
)

func (NodeBasis) Values() []string { return []string{string(ByAccumulators), string(ByStructure)} }

// MetricUnit is what a metric of an operator is counted in.
type MetricUnit string

const (
	UnitCount   MetricUnit = "count"
	UnitBytes   MetricUnit = "bytes"
	UnitSeconds MetricUnit = "s"
)

func (MetricUnit) Values() []string {
	return []string{string(UnitCount), string(UnitBytes), string(UnitSeconds)}
}

// FindingKind is what was found in a query.
type FindingKind string

const (
	SkewedKeys FindingKind = "skewed_keys" // an exchange brought more rows of some keys together than of others
	SkewedScan FindingKind = "skewed_scan" // some files or splits of a table hold more rows than others
	SplitByAQE FindingKind = "split"       // adaptive execution split skewed partitions already

	ExplodingJoin  FindingKind = "exploding_join"  // a join gave many times the rows of its larger input
	ShuffledSmall  FindingKind = "shuffled_small"  // a join shuffled both sides although one is small enough to be broadcast
	LargeBroadcast FindingKind = "large_broadcast" // a join broadcast a side that is too large for it
)

// IsSkew says that a finding is about slow tasks whose data was skewed.
func (k FindingKind) IsSkew() bool { return k == SkewedKeys || k == SkewedScan }

func (FindingKind) Values() []string {
	return []string{string(SkewedKeys), string(SkewedScan), string(SplitByAQE), string(ExplodingJoin), string(ShuffledSmall), string(LargeBroadcast)}
}

// Remedy is what would help: most spread rows that came together.
type Remedy string

const (
	SplitJoin   Remedy = "split_join"  // adaptive execution splits the partition, which the settings let it
	Broadcast   Remedy = "broadcast"   // the other side is small enough to go to every task, so that none is shuffled
	Rebalance   Remedy = "rebalance"   // a repartitioning that nothing needs by its keys may be split
	SaltKeys    Remedy = "salt_keys"   // in two steps, the first by a finer key
	SplitFiles  Remedy = "split_files" // smaller files or splits
	NoneApplies Remedy = "none"

	ShuffleJoin  Remedy = "shuffle_join"  // both sides by the keys, so that none is held whole
	FewerMatches Remedy = "fewer_matches" // the keys made unique in one input, or a column more to join by
)

func (Remedy) Values() []string {
	return []string{string(SplitJoin), string(Broadcast), string(Rebalance), string(SaltKeys), string(SplitFiles), string(NoneApplies), string(ShuffleJoin), string(FewerMatches)}
}
