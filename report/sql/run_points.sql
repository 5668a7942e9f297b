-- The complete runs of the programs of the picked applications, in order of time: the last 200 of each. Needs report_slow_apps
-- and report_programs.
SELECT program, application_id, start_time, time_origin, took_s
FROM (
  SELECT m.program, a.application_id, a.start_time, a.time_origin, CAST(unix_micros(a.finish_time) - unix_micros(a.start_time) AS DOUBLE) / 1e6 AS took_s,
    row_number() OVER (PARTITION BY m.program ORDER BY a.start_time DESC NULLS LAST, a.application_id DESC NULLS LAST) AS place
  FROM applications a JOIN report_programs m ON m.application_id = a.application_id SEMI JOIN (
    SELECT b.program FROM report_programs b SEMI JOIN report_slow_apps r ON r.application_id = b.application_id
  ) AS n ON n.program = m.program
  WHERE a.complete AND a.finish_time > a.start_time AND coalesce(a.status, 'unknown') IN ('succeeded', 'unknown')
) AS runs
WHERE place <= 200
ORDER BY program NULLS LAST, start_time NULLS LAST, application_id NULLS LAST
