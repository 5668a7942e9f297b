-- The phases with the most task time among those of at least three tasks, in order of time. Needs report_apps.
SELECT phase_id, application, job, native_id, attempt, name, median_s, total
FROM (
  SELECT h.phase_id, a.native_id AS application, j.native_id AS job, h.native_id, h.attempt, h.name, s.median_s, h.start_time, count(*) OVER () AS total,
    row_number() OVER (ORDER BY s.succeeded * s.median_s DESC NULLS LAST, h.phase_id NULLS LAST) AS place
  FROM phases h JOIN jobs j ON j.job_id = h.job_id JOIN applications a ON a.application_id = j.application_id JOIN phase_stats s ON s.phase_id = h.phase_id
    SEMI JOIN report_apps r ON r.application_id = j.application_id
  WHERE s.succeeded >= 3 AND s.median_s > 0
) x
WHERE place <= 18
ORDER BY start_time NULLS LAST, phase_id NULLS LAST
