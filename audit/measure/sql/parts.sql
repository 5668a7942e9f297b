-- The part of each stage that ran on one machine: the medians of its tasks there. The tasks are those of stages.sql; of an
-- application with very many machines, the parts of its longest stages come first and the others are left out.
SELECT phase_id, machine, tasks, median_s, cpu_s, wait_s
FROM (
  SELECT c.*, row_number() OVER (PARTITION BY c.application_id ORDER BY c.slot_s DESC NULLS LAST, c.phase_id NULLS LAST, c.machine NULLS LAST) AS place
  FROM (
    SELECT application_id, phase_id, machine,
      count(*) AS tasks,
      sum(duration_s) AS slot_s,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY duration_s) AS median_s,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY cpu_s) AS cpu_s,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY fetch_wait_s) AS wait_s
    FROM attempts
    WHERE status = 'success' AND NOT recompute AND machine IS NOT NULL AND duration_s BETWEEN 0 AND 1e15
    GROUP BY application_id, phase_id, machine
  ) AS c
) AS placed
WHERE place <= 100000
ORDER BY phase_id NULLS LAST, machine NULLS LAST
