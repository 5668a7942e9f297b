-- The executions of stages whose attempts are judged, or compared with: takes detected_stages, detected_usual and
-- detected_earlier, returns a row per phase. past is 1 if others are compared with it.
SELECT s.phase_id, s.stage_id, s.place, s.tasks, CASE WHEN p.phase_id IS NOT NULL THEN 1 ELSE 0 END AS past
FROM detected_stages s
  LEFT JOIN detected_usual h ON h.phase_id = s.phase_id AND h.usual_s IS NOT NULL
  LEFT JOIN (
    SELECT DISTINCT e.earlier_phase AS phase_id FROM detected_earlier e SEMI JOIN detected_usual u ON u.phase_id = e.phase_id AND u.usual_s IS NOT NULL
  ) AS p ON p.phase_id = s.phase_id
WHERE h.phase_id IS NOT NULL OR p.phase_id IS NOT NULL
