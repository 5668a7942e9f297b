-- The queries of an application. {key} is the application's.
SELECT count(*) OVER () AS total, q.query_id AS id, q.native_id, q.description AS name, q.status,
  (unix_micros(q.finish_time) - unix_micros(q.start_time)) / 1e6 AS took_s, x.jobs, x.lost_s, x.outliers
FROM queries q LEFT JOIN (
    SELECT y.query_id, count(DISTINCT y.job_id) AS jobs, CAST(sum(TRY_CAST(round(t.lost_s * 1e6) AS DECIMAL(28, 0))) AS DOUBLE) / 1e6 AS lost_s,
      CAST(sum(t.outliers) AS BIGINT) AS outliers
    FROM query_jobs y LEFT JOIN phases p ON p.job_id = y.job_id LEFT JOIN phase_stats t ON t.phase_id = p.phase_id
    GROUP BY y.query_id
  ) x ON x.query_id = q.query_id
WHERE q.application_id = {key}
