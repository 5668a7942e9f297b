-- What copies need about the phases of causes_attributed besides their attempts: input and stage, the lost outputs that its
-- attempts recomputed, and the times in which outputs that it reads were missing. {stage}, {output} and {gap} are the numbers
-- of these kinds of rows.
SELECT share, phase_id, CAST(NULL AS BIGINT) AS attempt_id, {stage} AS about, input AS other, stage AS text, CAST(NULL AS BIGINT) AS task,
  CAST(NULL AS BIGINT) AS start_us, CAST(NULL AS BIGINT) AS end_us
FROM causes_attributed
UNION ALL
SELECT p.share, r.phase_id, r.attempt_id, {output}, l.detected_by, l.machine, l.task, unix_micros(l.time), unix_micros(r.finish_time)
FROM losses l
  JOIN attempts r ON r.attempt_id = l.recomputed_by
  JOIN causes_attributed p ON p.phase_id = r.phase_id
UNION ALL
SELECT p.share, p.phase_id, NULL, {gap}, NULL, NULL, NULL, unix_micros(l.time), unix_micros(r.finish_time)
FROM losses l
  JOIN attempts r ON r.attempt_id = l.recomputed_by
  JOIN edges e ON e.from_phase = l.phase_id
  JOIN causes_attributed p ON p.phase_id = e.to_phase
WHERE r.finish_time > l.time
