-- The tasks that collected garbage for {least} s or more while another phase of their application ran, the {most} longest of
-- each application. Phases overlap if an earlier one ends after the start of a later one.
WITH beside AS (
  SELECT phase_id FROM (
    SELECT p.phase_id, p.start_time, p.finish_time,
      max(p.finish_time) OVER (PARTITION BY j.application_id ORDER BY p.start_time NULLS LAST, p.phase_id NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS earlier_end,
      lead(p.start_time) OVER (PARTITION BY j.application_id ORDER BY p.start_time NULLS LAST, p.phase_id NULLS LAST) AS next_start
    FROM phases p JOIN jobs j ON j.job_id = p.job_id
    WHERE p.start_time IS NOT NULL AND p.finish_time IS NOT NULL
  ) AS t
  WHERE earlier_end > start_time OR next_start < finish_time
)
SELECT application_id, phase_id, attempt_id, machine, start_time, duration_s, gc_s
FROM (
  SELECT a.application_id, a.phase_id, a.attempt_id, m.number AS machine, a.start_time, a.duration_s, a.gc_s,
    row_number() OVER (PARTITION BY a.application_id ORDER BY a.gc_s DESC NULLS LAST, a.attempt_id NULLS LAST) AS place
  FROM attempts a
    JOIN beside b ON b.phase_id = a.phase_id
    JOIN causes_machines m ON m.machine = a.machine
  WHERE a.gc_s >= {least} AND a.start_time IS NOT NULL AND a.duration_s BETWEEN {least} AND 1e15
) AS c
WHERE place <= {most}
