package causes_test

import (
	"fmt"
	"slices"
	"testing"

	"straggler/causes"
	"straggler/schema"
	"straggler/store"
)

// All stages of a program have one name, and night k has k more stages before the others. One stage reads an exchange of
// orders, is skewed in partition 7, and is resubmitted for a lost task. Another reads an exchange of sales, whose partitions
// adaptive execution coalesces, so that the skewed task has another number each night. A third reads files. The skew of both
// exchanges repeats, that of the second in no particular partition. Without plans no skew repeats, since each night's stages
// differ by name and order.
func TestSkewRepeatsByExchange(t *testing.T) {
	const nights = 4
	for _, planned := range []bool{true, false} {
		trace := nightsOfExchanges(nights, planned)
		st, eng := causes.Stored(t, func(st *store.Store) error {
			return causes.Commit(t.Context(), st, func(tx *store.Tx) error { return causes.PutTrace(tx, trace) })
		})
		if _, err := causes.Run(t.Context(), st, eng, causes.Options{}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range rowsOf[schema.SkewRepeat](t, eng, "SELECT * FROM skew_repeats WHERE repeats ORDER BY exchange NULLS LAST, task NULLS LAST") {
			got = append(got, fmt.Sprint(r.Exchange.V, " ", r.Task, " ", r.Skewed, " of ", r.Executions))
		}
		var want []string
		if planned {
			want = []string{fmt.Sprint("customer_id of orders ", schema.Some[int64](7), " 4 of 4"), fmt.Sprint("region of sales ", schema.Null[int64]{}, " 4 of 4")}
		}
		if !slices.Equal(got, want) {
			t.Errorf("plans %t: %q, want %q", planned, got, want)
		}
	}
}

func nightsOfExchanges(nights int, planned bool) schema.Trace {
	at := func(s float64) schema.Null[schema.Time] { return schema.Some(schema.Time(1e15).Add(s)) }
	var t schema.Trace
	key := schema.Key(0)
	next := func() schema.Key { key++; return key }
	for night := range nights {
		app := schema.Application{ApplicationID: next(), NativeID: fmt.Sprint("app-", night), Name: schema.Some("nightly"),
			Framework: "spark", SourceFile: "f", TimeOrigin: "epoch", Status: schema.RunSucceeded, Complete: true}
		job := schema.Job{JobID: next(), ApplicationID: app.ApplicationID, NativeID: "0", StartTime: at(0), FinishTime: at(99), Status: schema.RunSucceeded}
		query := schema.Query{QueryID: next(), ApplicationID: app.ApplicationID, NativeID: "0", Status: schema.RunSucceeded}
		t.Applications, t.Jobs = append(t.Applications, app), append(t.Jobs, job)
		if planned {
			t.Queries = append(t.Queries, query)
		}
		for stage := range night + 3 {
			p := schema.Phase{PhaseID: next(), JobID: job.JobID, NativeID: fmt.Sprint(stage),
				Name: schema.Some("collect at NativeMethodAccessorImpl.java:0"), Kind: "result", StartTime: at(0), FinishTime: at(9), Status: schema.RunSucceeded}
			t.Phases = append(t.Phases, p)
			skewed := -1
			switch stage - night {
			case 0:
				skewed = 7
				read(&t, next(), query.QueryID, p.PhaseID, schema.ExchangeNode, "customer_id", "orders", planned)
				again := p // one task of it was lost: not an execution of its own
				again.PhaseID, again.Attempt = next(), 1
				t.Phases = append(t.Phases, again)
				read(&t, next(), query.QueryID, again.PhaseID, schema.ExchangeNode, "customer_id", "orders", planned)
				t.Attempts = append(t.Attempts, schema.Attempt{AttemptID: next(), PhaseID: again.PhaseID, JobID: job.JobID, ApplicationID: app.ApplicationID, NativeID: "t",
					Machine: schema.Some("m0"), StartTime: at(8), FinishTime: at(9), DurationS: schema.Some(1.0), Status: schema.Success, InputBytes: schema.Some[int64](1e6)})
			case 1:
				skewed = 9 + 2*night
				read(&t, next(), query.QueryID, p.PhaseID, schema.ExchangeNode, "region", "sales", planned)
				read(&t, next(), query.QueryID, p.PhaseID, schema.ShuffleReadNode, "", "sales", planned)
			}
			for i := range 20 {
				a := schema.Attempt{AttemptID: next(), PhaseID: p.PhaseID, JobID: job.JobID, ApplicationID: app.ApplicationID, Task: int64(i),
					NativeID: "t", Machine: schema.Some(fmt.Sprint("m", i%4)),
					StartTime: at(0), DurationS: schema.Some(1 + 0.01*float64(i)), Status: schema.Success, InputBytes: schema.Some[int64](1e6 + 1e4*int64(i))}
				if i == skewed {
					a.InputBytes, a.DurationS = schema.Some[int64](6e6), schema.Some(6.0)
				}
				a.FinishTime = at(a.DurationS.V)
				t.Attempts = append(t.Attempts, a)
			}
		}
	}
	return t
}

// read adds an operator through which a phase reads.
func read(t *schema.Trace, id, query, phase schema.Key, kind schema.NodeKind, keys, table string, planned bool) {
	if !planned {
		return
	}
	n := schema.PlanNode{NodeID: id, QueryID: query, Plan: schema.FinalPlan, Position: int32(len(t.PlanNodes)), Kind: kind,
		Operator: "Exchange", Engine: schema.SparkEngine, Tables: schema.Some(table), Coalesced: kind == schema.ShuffleReadNode}
	if keys != "" {
		n.Keys = schema.Some(keys)
	}
	t.PlanNodes = append(t.PlanNodes, n)
	t.NodePhases = append(t.NodePhases, schema.NodePhase{QueryID: query, NodeID: id, PhaseID: phase, Role: schema.NodeReads, Basis: schema.ByAccumulators})
}
