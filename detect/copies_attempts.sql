-- The attempts of candidates.sql and those that slower_than_usual.sql compares them with, each once: takes attempts,
-- detected_compared and detected_usual, returns rows for copies of this program, which compare those of one task of a stage
-- after another. share is the same for all attempts of such a task, and for few others. usual_s and the columns after it are
-- NULL for attempts that are not judged.
SELECT stage_id % 1000003 + task % 1000003 AS share, stage_id, task, place, past, phase_id, attempt_id, duration_s, input_bytes, input_records,
  CASE WHEN judged THEN is_partition END AS is_partition, CASE WHEN judged THEN usual_s END AS usual_s,
  CASE WHEN judged THEN usual_bytes END AS usual_bytes, CASE WHEN judged THEN usual_records END AS usual_records,
  CASE WHEN judged THEN compared END AS compared, CASE WHEN judged THEN within_run END AS within_run,
  CASE WHEN judged THEN between_runs END AS between_runs, CASE WHEN judged THEN tick_s END AS tick_s
FROM (
  SELECT e.stage_id, a.task, e.place, a.phase_id, a.attempt_id, a.duration_s, a.input_bytes, a.input_records,
    coalesce(CAST(floor(a.quality / 16) AS BIGINT) % 2 = 0, TRUE) AS is_partition,
    e.past = 1 AND a.status = 'success' AND a.duration_s > 0 AS past,
    h.usual_s IS NOT NULL AND NOT a.recompute AND a.duration_s > 1.5 * h.usual_s AS judged,
    h.usual_s, h.usual_bytes, h.usual_records, h.compared, h.within_run, h.between_runs, h.tick_s
  FROM attempts a JOIN detected_compared e ON e.phase_id = a.phase_id LEFT JOIN detected_usual h ON h.phase_id = a.phase_id
  WHERE a.status IN ('success', 'killed') AND a.duration_s BETWEEN 0 AND 1e15
) AS t
WHERE past OR judged
