-- The runs of a store, one row per application: counts of its attempts and whether its log is complete. Needs owned_rejects of
-- package selection. Sums are of decimals, here and in the other files: those of doubles depend on the order of rows.
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
      CAST(sum(CAST(round(CASE WHEN duration_s BETWEEN 0 AND 1e15 THEN duration_s END * 1e6) AS DECIMAL(28, 0))) AS DOUBLE) / 1e6 AS slot_s,
      min(start_time) AS first_start,
      max(finish_time) AS last_finish
    FROM attempts GROUP BY application_id
  ) AS n ON n.application_id = a.application_id
  LEFT JOIN (SELECT input, count(*) AS rejects FROM owned_rejects GROUP BY input) AS r ON r.input = a.source_file
ORDER BY a.application_id NULLS LAST
