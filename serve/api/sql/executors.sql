-- The executors of an application, with what their attempts did. {key} is the application's. Sums
-- of seconds are of decimals, as in stages.sql.
SELECT m.executor, m.machine, m.cores, m.slots, m.added_time, m.removed_time, coalesce(t.active, 0) AS active, coalesce(t.failed, 0) AS failed,
  coalesce(t.completed, 0) AS completed, coalesce(t.total, 0) AS total, coalesce(t.duration_s, 0) AS duration_s, t.gc_s, t.shuffle_write_bytes
FROM (
  SELECT executor, max(machine) AS machine, max(cores) AS cores, max(slots) AS slots, min(added_time) AS added_time, max(removed_time) AS removed_time
  FROM machines WHERE application_id = {key} AND executor IS NOT NULL GROUP BY executor
) m LEFT JOIN (
  SELECT executor, count(*) FILTER (WHERE status = 'running') AS active, count(*) FILTER (WHERE status IN ('failed', 'lost')) AS failed,
    count(*) FILTER (WHERE status = 'success') AS completed, count(*) AS total,
    CAST(sum(TRY_CAST(round(duration_s * 1e6) AS DECIMAL(28, 0))) AS DOUBLE) / 1e6 AS duration_s,
    CAST(sum(TRY_CAST(round(gc_s * 1e6) AS DECIMAL(28, 0))) AS DOUBLE) / 1e6 AS gc_s,
    CAST(sum(shuffle_write_bytes) AS BIGINT) AS shuffle_write_bytes
  FROM attempts WHERE application_id = {key} GROUP BY executor
) t ON t.executor = m.executor
ORDER BY try_cast(m.executor AS BIGINT) NULLS LAST, m.executor
LIMIT 10000
