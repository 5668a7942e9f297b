-- Quantiles of the metrics of a phase's successful tasks, as Spark defines them: of n sorted values the one at index floor(q
-- n), at most the last. {key} is the phase's, {quantiles} are rows of place and quantile.
WITH t AS (SELECT * FROM attempts WHERE phase_id = {key} AND status = 'success'),
v AS (
  SELECT 'duration' AS metric, round(duration_s * 1e3) AS x FROM t UNION ALL
  SELECT 'executorCpuTime', round(cpu_s * 1e9) FROM t UNION ALL
  SELECT 'jvmGcTime', round(gc_s * 1e3) FROM t UNION ALL
  SELECT 'executorDeserializeTime', round(deserialize_s * 1e3) FROM t UNION ALL
  SELECT 'schedulerDelay', round(scheduler_delay_s * 1e3) FROM t UNION ALL
  SELECT 'peakExecutionMemory', peak_memory_bytes FROM t UNION ALL
  SELECT 'diskBytesSpilled', spill_bytes FROM t UNION ALL
  SELECT 'bytesWritten', output_bytes FROM t UNION ALL
  SELECT 'writeBytes', shuffle_write_bytes FROM t UNION ALL
  SELECT 'fetchWaitTime', round(fetch_wait_s * 1e3) FROM t
),
n AS (SELECT metric, list_sort(list(x)) AS xs, count(*) AS n FROM v WHERE x IS NOT NULL GROUP BY metric)
SELECT n.metric, CAST(n.xs[CAST(least(floor(i.q * n.n), n.n - 1) AS BIGINT) + 1] AS DOUBLE) AS x
FROM n, (VALUES {quantiles}) i(place, q)
ORDER BY n.metric, i.place
