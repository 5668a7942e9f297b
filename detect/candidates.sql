-- The attempts that may be slow compared with the history of their stage: takes attempts and detected_usual, returns the
-- columns of them that slower_than_usual.sql needs. Only attempts that are slow for their stage are considered: a task that is
-- usually short is found only if it is long for its stage.
SELECT a.attempt_id, a.phase_id, a.task, a.duration_s AS d, a.input_bytes, a.input_records,
  coalesce(CAST(floor(a.quality / 16) AS BIGINT) % 2 = 0, TRUE) AS is_partition,
  h.usual_s, h.usual_bytes, h.usual_records, h.compared, h.within_run, h.between_runs, h.tick_s
FROM attempts a JOIN detected_usual h ON h.phase_id = a.phase_id
WHERE h.usual_s IS NOT NULL AND a.status IN ('success', 'killed') AND NOT a.recompute
  AND a.duration_s BETWEEN 0 AND 1e15 AND a.duration_s > 1.5 * h.usual_s
