-- The runs of a store, one row per application: counts of its attempts and whether its log is complete.
SELECT a.application_id, a.native_id, a.name, a.start_time, a.finish_time, a.status, a.complete, a.source_file,
  coalesce(n.attempts, 0) AS attempts,
  coalesce(n.failed, 0) AS failed,
  coalesce(n.recomputed, 0) AS recomputed,
  n.slot_s,
  coalesce(r.rejects, 0) AS rejects,
  n.first_start, n.last_finish
FROM applications a
  LEFT JOIN (
    SELECT application_id,
      count(*) AS attempts,
      count(*) FILTER (WHERE status IN ('failed', 'lost')) AS failed,
      count(*) FILTER (WHERE recompute) AS recomputed,
      sum(duration_s) FILTER (WHERE duration_s BETWEEN 0 AND 1e15) AS slot_s,
      min(start_time) AS first_start,
      max(finish_time) AS last_finish
    FROM attempts GROUP BY application_id
  ) AS n ON n.application_id = a.application_id
  LEFT JOIN ( -- of its file, or of the files of its directory
    SELECT source_file, count(*) AS rejects
    FROM (
      SELECT source_file FROM rejects
      UNION ALL SELECT regexp_replace(source_file, '/[^/]*$', '') AS source_file FROM rejects WHERE source_file LIKE '%/%'
    ) AS x
    GROUP BY source_file
  ) AS r ON r.source_file = a.source_file
ORDER BY a.application_id NULLS LAST
