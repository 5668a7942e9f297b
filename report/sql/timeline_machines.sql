-- The machines of a timeline in order of their excess. Needs report_picked_jobs; kept as report_timeline_machines.
SELECT x.*, row_number() OVER (ORDER BY excess_s DESC NULLS LAST, attempts DESC NULLS LAST, machine NULLS LAST) AS place
FROM (
  SELECT coalesce(a.machine, '') AS machine, count(*) AS attempts, min(a.start_time) AS start_time, max(coalesce(a.finish_time, a.start_time)) AS finish_time,
    coalesce(CAST(sum(o.excess_us) AS DOUBLE), 0) / 1e6 AS excess_s,
    count(*) FILTER (WHERE o.attempt_id IS NOT NULL OR a.status <> 'success' OR a.number > 0 OR a.recompute OR coalesce(a.speculative, false)) AS marks
  FROM attempts a SEMI JOIN report_picked_jobs r ON r.job_id = a.job_id
    LEFT JOIN (SELECT attempt_id, sum(CAST(round(seconds * 1e6) AS DECIMAL(28, 0))) AS excess_us
               FROM attributions GROUP BY attempt_id) o ON o.attempt_id = a.attempt_id
  WHERE a.start_time IS NOT NULL
  GROUP BY coalesce(a.machine, '')
) x
