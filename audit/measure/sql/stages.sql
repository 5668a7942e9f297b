-- The measurements of each stage: one row per phase that ran, in the order of submission, with resubmissions last: they are
-- further occurrences of their stages, and do not change the numbers of the others. The tasks are those that succeeded and are
-- not recomputations: a phase that only recomputes lost outputs has none and is left out; its attempts are counted with the
-- application. excess is duration above the median of the stage, in slot seconds, and its square at most 1e24, of which a decimal
-- holds the sum over 100 million tasks; moved_bytes is what a task reads and writes;
-- ticks counts the tasks whose start and finish are whole seconds.
SELECT p.phase_id, p.job_id, j.application_id, p.native_id, j.name AS job, p.name, p.kind, p.submit_time, p.start_time, p.finish_time,
  s.tasks, s.median_s, s.max_s, s.slowdown_ratio, s.outliers, s.lost_s,
  t.timed, t.slot_s, t.excess_s, t.excess_sq, t.min_s, t.p25_s, t.p75_s, t.p90_s, t.p99_s,
  t.max_bytes / nullif(t.median_bytes, 0) AS input_skew,
  t.cpu_s, t.wait_s, t.moved_bytes, t.input_bytes, t.sized, t.ticks
FROM phases p
  JOIN jobs j ON j.job_id = p.job_id
  JOIN phase_stats s ON s.phase_id = p.phase_id
  JOIN (
    SELECT a.phase_id,
      count(*) AS timed,
      CAST(sum(CAST(round(a.duration_s * 1e6) AS DECIMAL(28, 0))) AS DOUBLE) / 1e6 AS slot_s,
      CAST(sum(CAST(round(a.over_s * 1e6) AS DECIMAL(28, 0))) AS DOUBLE) / 1e6 AS excess_s,
      CAST(sum(CAST(round(least(a.over_s * a.over_s, 1e24) * 1e6) AS DECIMAL(31, 0))) AS DOUBLE) / 1e6 AS excess_sq,
      min(a.duration_s) AS min_s,
      percentile_cont(0.25) WITHIN GROUP (ORDER BY a.duration_s) AS p25_s,
      percentile_cont(0.75) WITHIN GROUP (ORDER BY a.duration_s) AS p75_s,
      percentile_cont(0.9) WITHIN GROUP (ORDER BY a.duration_s) AS p90_s,
      percentile_cont(0.99) WITHIN GROUP (ORDER BY a.duration_s) AS p99_s,
      max(a.input_bytes) AS max_bytes,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY a.input_bytes) AS median_bytes,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY a.cpu_s) AS cpu_s,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY a.fetch_wait_s) AS wait_s,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY coalesce(a.input_bytes, 0) + coalesce(a.output_bytes, 0)
        + coalesce(a.shuffle_write_bytes, 0) + coalesce(a.spill_bytes, 0)) AS moved_bytes,
      CAST(sum(CAST(a.input_bytes AS DECIMAL(28, 0))) AS DOUBLE) AS input_bytes,
      count(a.input_bytes) AS sized,
      count(*) FILTER (WHERE unix_micros(a.start_time) % 1000000 = 0 AND unix_micros(a.finish_time) % 1000000 = 0) AS ticks
    FROM (
      SELECT a.*, greatest(a.duration_s - m.median_s, 0e0) AS over_s
      FROM attempts a JOIN phase_stats m ON m.phase_id = a.phase_id
      WHERE a.status = 'success' AND NOT a.recompute AND a.duration_s BETWEEN 0 AND 1e15
    ) AS a
    GROUP BY a.phase_id
  ) AS t ON t.phase_id = p.phase_id
ORDER BY j.application_id NULLS LAST, CASE WHEN p.attempt > 0 THEN 1 ELSE 0 END, p.submit_time NULLS LAST, p.start_time NULLS LAST, p.phase_id NULLS LAST
