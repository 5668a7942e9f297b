-- The executions of stages that attempts are judged of, or compared with: takes detected_stages, detected_usual and detected_earlier, gives a row per
-- phase. usual_s and what follows it are NULL where no attempt is judged, and past says that others are compared with it.
SELECT s.phase_id, s.stage_id, s.place, s.tasks, p.phase_id IS NOT NULL AS past,
  h.usual_s, h.usual_bytes, h.usual_records, h.compared, h.within_run, h.between_runs, h.tick_s
FROM detected_stages s
  LEFT JOIN detected_usual h ON h.phase_id = s.phase_id AND h.usual_s IS NOT NULL
  LEFT JOIN (
    SELECT DISTINCT e.earlier_phase AS phase_id FROM detected_earlier e SEMI JOIN detected_usual u ON u.phase_id = e.phase_id AND u.usual_s IS NOT NULL
  ) AS p ON p.phase_id = s.phase_id
WHERE h.usual_s IS NOT NULL OR p.phase_id IS NOT NULL
