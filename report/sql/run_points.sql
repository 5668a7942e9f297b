-- The complete runs of the names of the picked applications, in order of time: the last 200 of each name. Needs report_slow_apps.
SELECT name, application_id, start_time, time_origin, took_s
FROM (
  SELECT a.name, a.application_id, a.start_time, a.time_origin, CAST(unix_micros(a.finish_time) - unix_micros(a.start_time) AS DOUBLE) / 1e6 AS took_s,
    row_number() OVER (PARTITION BY a.name ORDER BY a.start_time DESC NULLS LAST, a.application_id DESC NULLS LAST) AS place
  FROM applications a SEMI JOIN (
    SELECT b.name FROM applications b SEMI JOIN report_slow_apps r ON r.application_id = b.application_id WHERE b.name IS NOT NULL
  ) AS n ON n.name = a.name
  WHERE a.complete AND a.finish_time > a.start_time AND (a.status IS NULL OR a.status = 'succeeded')
) AS runs
WHERE place <= 200
ORDER BY name NULLS LAST, start_time NULLS LAST, application_id NULLS LAST
