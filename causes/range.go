package causes

import (
	"context"
	"strconv"
	"strings"

	"straggler/engine"
	"straggler/schema"
)

// may lists the columns of tasks.sql that many logs say nothing about.
var may = []struct{ column, typ string }{
	{"input_bytes", "BIGINT"}, {"remote_bytes", "BIGINT"}, {"input_records", "BIGINT"}, {"output_bytes", "BIGINT"}, {"shuffle_write_bytes", "BIGINT"},
	{"spill_bytes", "BIGINT"}, {"cpu_s", "DOUBLE"}, {"locality", "VARCHAR"}, {"fetch_wait_s", "DOUBLE"}, {"gc_s", "DOUBLE"},
	{"scheduler_delay_s", "DOUBLE"}, {"deserialize_s", "DOUBLE"}, {"result_s", "DOUBLE"},
}

// findBlank finds the columns that no attempt of the table has a value in. Reading a row's NULLs, twice, takes longer than
// its numbers do; that there are none is seen at the first value of a column. A cluster would have to look everywhere
// before it can say, so it reads them all.
func (r *run) findBlank(ctx context.Context) error {
	if _, far := r.eng.(engine.RemoteRunner); far {
		return nil
	}
	r.blank = nil
	find := make([]string, len(may))
	for k, m := range may {
		find[k] = "EXISTS (SELECT 1 FROM " + r.attempts() + " WHERE " + m.column + " IS NOT NULL) AS " + m.column
	}
	rows, err := r.eng.Query(ctx, "SELECT "+strings.Join(find, ", "))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		for k, m := range may {
			if rows.Value(k) == false {
				r.blank = append(r.blank, "a."+m.column, "CAST(NULL AS "+m.typ+")")
			}
		}
	}
	return rows.Err()
}

// rangeSQL reads the attempts of a range of phases from a table, with their outliers or without. blank is pairs of a column and what
// stands for it.
func rangeSQL(attempts string, low, high schema.Key, outliers bool, blank []string) string {
	those := "FALSE"
	if outliers {
		those = "phase_id BETWEEN {low} AND {high}"
	}
	sql := strings.ReplaceAll(strings.NewReplacer(blank...).Replace(tasksSQL), "{those}", those)
	return strings.NewReplacer("{attempts}", attempts, "{low}", strconv.FormatInt(low, 10), "{high}", strconv.FormatInt(high, 10)).Replace(sql)
}
