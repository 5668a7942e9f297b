-- The part of each stage that ran on one machine: the medians of its tasks there, and the machine's rack if this log, or
-- another one in the store, has it. The tasks are those of stages.sql; of an application with very many machines, the parts of
-- its longest stages come first and the others are left out.
SELECT phase_id, machine, rack, tasks, median_s, cpu_s, wait_s
FROM (
  SELECT c.*, row_number() OVER (PARTITION BY c.application_id ORDER BY c.slot_s DESC NULLS LAST, c.phase_id NULLS LAST, c.machine NULLS LAST) AS place
  FROM (
    SELECT a.application_id, a.phase_id, a.machine, max(coalesce(a.rack, m.rack)) AS rack,
      count(*) AS tasks,
      CAST(sum(CAST(round(duration_s * 1e6) AS DECIMAL(28, 0))) AS DOUBLE) / 1e6 AS slot_s,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY duration_s) AS median_s,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY cpu_s) AS cpu_s,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY fetch_wait_s) AS wait_s
    FROM attempts a LEFT JOIN (SELECT machine, min(rack) AS rack FROM machines GROUP BY machine HAVING count(DISTINCT rack) = 1) AS m ON m.machine = a.machine
    WHERE a.status = 'success' AND NOT a.recompute AND a.machine IS NOT NULL AND a.duration_s BETWEEN 0 AND 1e15
    GROUP BY a.application_id, a.phase_id, a.machine
  ) AS c
) AS placed
WHERE place <= 100000
ORDER BY phase_id NULLS LAST, machine NULLS LAST
