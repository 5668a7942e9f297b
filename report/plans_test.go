package report_test

import (
	"testing"

	"straggler/report"
	"straggler/report/reporttest"
	"straggler/schema"
	"straggler/store"
)

// A truncated log, or a query that runs as part of another, may have findings about a query without jobs: they are shown,
// without a loss of jobs.
func TestQueryWithoutJobs(t *testing.T) {
	eng := reporttest.Filled(t, func(tx *store.Tx) {
		reporttest.Put(t, tx, []schema.Application{{ApplicationID: 1, NativeID: "app-1", Framework: "spark"}})
		reporttest.Put(t, tx, []schema.Query{{QueryID: 2, ApplicationID: 1, NativeID: "7", Status: schema.RunUnknown}})
		reporttest.Put(t, tx, []schema.PlanNode{{NodeID: 3, QueryID: 2, Plan: schema.FinalPlan, Kind: schema.JoinNode,
			Operator: "BroadcastHashJoin", Engine: schema.SparkEngine}})
		reporttest.Put(t, tx, []schema.QueryFinding{{QueryID: 2, Kind: schema.LargeBroadcast, NodeID: 3,
			Operator: "BroadcastHashJoin", Bytes: schema.Some(2e9)}})
	})
	d, err := report.Build(t.Context(), eng, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Queries.Rows) != 1 || d.Queries.Rows[0].Jobs != 0 || d.Queries.Rows[0].Loss.LostS.V != 0 || len(d.Queries.Rows[0].Findings) != 1 {
		t.Errorf("%+v", d.Queries.Rows)
	}
}
