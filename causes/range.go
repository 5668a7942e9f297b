package causes

import (
	"context"
	"strconv"
	"strings"

	"straggler/engine"
	"straggler/schema"
)

// sparse lists the columns of tasks.sql that many logs lack.
var sparse = []struct{ column, typ string }{
	{"input_bytes", "BIGINT"}, {"remote_bytes", "BIGINT"}, {"input_records", "BIGINT"}, {"output_bytes", "BIGINT"}, {"shuffle_write_bytes", "BIGINT"},
	{"spill_bytes", "BIGINT"}, {"cpu_s", "DOUBLE"}, {"locality", "VARCHAR"}, {"fetch_wait_s", "DOUBLE"}, {"gc_s", "DOUBLE"},
	{"scheduler_delay_s", "DOUBLE"}, {"deserialize_s", "DOUBLE"}, {"result_s", "DOUBLE"},
}

// findBlank finds the columns that are NULL in all attempts of the table. Reading NULLs twice takes longer than reading
// numbers, and a column with values is ruled out at the first one. On a cluster the check would scan everything, so all columns
// are read.
func (r *run) findBlank(ctx context.Context) error {
	if _, far := r.eng.(engine.RemoteRunner); far {
		return nil
	}
	r.blank = nil
	find := make([]string, len(sparse))
	for k, m := range sparse {
		find[k] = "EXISTS (SELECT 1 FROM " + r.attempts() + " WHERE " + m.column + " IS NOT NULL) AS " + m.column
	}
	rows, err := r.eng.Query(ctx, "SELECT "+strings.Join(find, ", "))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		for k, m := range sparse {
			if rows.Value(k) == false {
				r.blank = append(r.blank, "a."+m.column, "CAST(NULL AS "+m.typ+")")
			}
		}
	}
	return rows.Err()
}

// timedSQL is the condition for attempts that count in run_machines.sql; every duration is at most 1e15 s.
const timedSQL = "coalesce(a.status = 'success' AND NOT a.recompute AND a.machine IS NOT NULL AND a.duration_s > 0 AND a.start_time IS NOT NULL AND a.finish_time IS NOT NULL, FALSE)"

// taskRange selects the attempts and columns of a query by tasks.sql.
type taskRange struct {
	attempts  string     // the table
	low, high schema.Key // of the phases
	outliers  bool       // with the outliers among them
	timed     bool       // and whether they are compared with earlier runs of their stage
	unended   bool       // attempts without a duration too, in which case outliers must be false
	blank     []string   // pairs of a column without values and the expression that replaces it
}

func (t taskRange) sql() string {
	those, timed, ran := "FALSE", "FALSE", "coalesce(a.duration_s, o.lasted_s) BETWEEN 0 AND 1e15"
	if t.outliers {
		those = "phase_id BETWEEN {low} AND {high}"
	}
	if t.timed {
		timed = timedSQL
	}
	if t.unended {
		ran = "coalesce(a.duration_s, 0) BETWEEN 0 AND 1e15"
	}
	sql := strings.NewReplacer("{those}", those, "{timed}", timed, "{ran}", ran).Replace(strings.NewReplacer(t.blank...).Replace(tasksSQL))
	return strings.NewReplacer("{attempts}", t.attempts, "{low}", strconv.FormatInt(t.low, 10), "{high}", strconv.FormatInt(t.high, 10)).Replace(sql)
}
