-- Jobs selected by jobRows.
SELECT count(*) OVER () AS total, j.job_id AS id, j.native_id, j.name, j.status,
  (unix_micros(j.finish_time) - unix_micros(coalesce(j.submit_time, j.start_time))) / 1e6 AS took_s, s.phases, s.lost_s, s.outliers
FROM jobs j LEFT JOIN (
    SELECT p.job_id, count(*) AS phases, CAST(sum(TRY_CAST(round(t.lost_s * 1e6) AS DECIMAL(28, 0))) AS DOUBLE) / 1e6 AS lost_s,
      CAST(sum(t.outliers) AS BIGINT) AS outliers
    FROM phases p LEFT JOIN phase_stats t ON t.phase_id = p.phase_id
    WHERE p.status <> 'skipped'
    GROUP BY p.job_id
  ) s ON s.job_id = j.job_id
