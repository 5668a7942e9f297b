-- Every output that was lost and recomputed, with the phases that read it. restored is the end of the attempt that recomputed
-- it.
SELECT l.recomputed_by, l.task, l.machine, l.time, l.detected_by, r.finish_time AS restored, e.to_phase AS reader
FROM losses l
  JOIN attempts r ON r.attempt_id = l.recomputed_by
  LEFT JOIN edges e ON e.from_phase = l.phase_id
ORDER BY l.recomputed_by NULLS LAST, l.time NULLS LAST, e.to_phase NULLS LAST
