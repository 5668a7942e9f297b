-- The complete runs of each program that the report is about whose log knows the time of day, in order of time: the last 200 of
-- each, with the input of all tasks, by the median of each stage. Needs report_apps and report_programs.
SELECT program, application_id, start_time, took_s, input_bytes
FROM (
  SELECT m.program, a.application_id, a.start_time, CAST(unix_micros(a.finish_time) - unix_micros(a.start_time) AS DOUBLE) / 1e6 AS took_s, h.input_bytes,
    row_number() OVER (PARTITION BY m.program ORDER BY a.start_time DESC NULLS LAST, a.application_id DESC NULLS LAST) AS place
  FROM applications a JOIN report_programs m ON m.application_id = a.application_id
    SEMI JOIN (SELECT b.program FROM report_programs b SEMI JOIN report_apps r ON r.application_id = b.application_id) AS n ON n.program = m.program
    LEFT JOIN (
      SELECT j.application_id, CAST(sum(TRY_CAST(round(s.input_bytes * s.tasks) AS DECIMAL(28, 0))) AS DOUBLE) AS input_bytes
      FROM stage_history s JOIN phases p ON p.phase_id = s.phase_id JOIN jobs j ON j.job_id = p.job_id
      GROUP BY j.application_id
    ) AS h ON h.application_id = a.application_id
  WHERE a.complete AND a.finish_time > a.start_time AND a.time_origin = 'epoch' AND coalesce(a.status, 'unknown') IN ('succeeded', 'unknown')
) AS runs
WHERE place <= 200
ORDER BY program NULLS LAST, start_time NULLS LAST, application_id NULLS LAST
