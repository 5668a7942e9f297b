-- When the longest phases of a timeline ran. Needs report_picked_jobs.
SELECT native_id, attempt, start_time, finish_time
FROM (
  SELECT h.native_id, h.attempt, h.phase_id, h.start_time, h.finish_time,
    row_number() OVER (ORDER BY unix_micros(h.finish_time) - unix_micros(h.start_time) DESC NULLS LAST, h.phase_id NULLS LAST) AS place
  FROM phases h SEMI JOIN report_picked_jobs r ON r.job_id = h.job_id
  WHERE h.start_time IS NOT NULL AND h.finish_time IS NOT NULL
) x
WHERE place <= 60
ORDER BY start_time NULLS LAST, phase_id NULLS LAST
