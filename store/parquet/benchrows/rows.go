// Package benchrows has rows for benchmarks, like those of logs.
package benchrows

import (
	"fmt"
	"math/rand/v2"

	"straggler/schema"
)

// Spark returns attempts like those of a Spark log with some hundred tasks per stage, of which four run at the same time: times in
// milliseconds, most metrics known, ids that count up.
func Spark(n int) []schema.Attempt {
	rng := rand.New(rand.NewPCG(1, 2))
	ids, phases := schema.NewKeys(1, "attempts"), schema.NewKeys(1, "phases")
	rows := make([]schema.Attempt, n)
	at := int64(1700000000000)
	ms := func(most int64) schema.Null[float64] { return schema.Some(float64(rng.Int64N(most)) / 1000) }
	for i := range rows {
		at += rng.Int64N(20)
		duration := 100 + rng.Int64N(5000)
		rows[i] = schema.Attempt{AttemptID: ids.Next(), PhaseID: phases.Nth(int64(i/800)*4 + rng.Int64N(4)), JobID: 5, ApplicationID: 6,
			Task: int64(i / 4 % 200), NativeID: fmt.Sprint(i), Machine: schema.Some(fmt.Sprintf("ip-10-0-%d-%d.ec2.internal", rng.IntN(4), rng.IntN(50))),
			Executor: schema.Some(fmt.Sprint(rng.IntN(400))), QueuedTime: schema.Some(schema.FromMillis(at - 50)),
			StartTime:  schema.Some(schema.FromMillis(at)),
			FinishTime: schema.Some(schema.FromMillis(at + duration)), DurationS: schema.Some(float64(duration) / 1000), Status: schema.Success,
			Speculative: schema.Some(false), Locality: schema.Some(schema.NodeLocal),
			InputBytes: schema.Some(rng.Int64N(128 << 20)), LocalBytes: schema.Some(rng.Int64N(64 << 20)),
			RemoteBytes: schema.Some(rng.Int64N(64 << 20)), InputRecords: schema.Some(rng.Int64N(1 << 20)), OutputBytes: schema.Some(int64(0)),
			ShuffleWriteBytes: schema.Some(rng.Int64N(16 << 20)), SpillBytes: schema.Some(int64(0)),
			CPUS: schema.Some(rng.Float64() * 5), GCS: ms(100), FetchWaitS: ms(30),
			SchedulerDelayS: ms(50), DeserializeS: ms(20), ResultS: ms(5), PeakMemoryBytes: schema.Some(rng.Int64N(1 << 30)), Quality: schema.RackUnknown}
	}
	return rows
}

// CSV returns attempts like those of a CSV file with phase, task, machine, times, status and bytes.
func CSV(n int) []schema.Attempt {
	ids, phases := schema.NewKeys(1, "attempts"), schema.NewKeys(1, "phases")
	rows := make([]schema.Attempt, n)
	for i := range rows {
		at, seconds := 1700000000000+int64(i)*2, int64(30+i%17)
		rows[i] = schema.Attempt{AttemptID: ids.Next(), PhaseID: phases.Nth(int64(i / 500)), JobID: 5, ApplicationID: 6, Task: int64(i % 500),
			NativeID: fmt.Sprint(i % 500), Machine: schema.Some(fmt.Sprintf("worker-%d.example.com", i%300)), StartTime: schema.Some(schema.FromMillis(at)),
			FinishTime: schema.Some(schema.FromMillis(at + seconds*1000)), DurationS: schema.Some(float64(seconds)), Status: schema.Success,
			InputBytes: schema.Some(int64(134217728 - i%1000)), Quality: schema.RackUnknown | schema.MetricsMissing}
	}
	return rows
}
