-- The executions of the stages that something has changed of, numbered by time: takes detected_own, the executions that are new, and
-- detected_before, those that earlier results know, and whether they stand. Gives the executions that the store holds of these stages now.
--
-- place numbers the executions of a stage from 1 in the order in which their applications started; what is earlier has a smaller one. stage_id is the
-- key of one of them. todo says that what is said of an execution has to be worked out: it is new, or one before it is new, has changed or gone.
-- known says that earlier results have it.
SELECT phase_id, stage_id, place, known, CASE WHEN known = 0 OR changed > 0 THEN 1 ELSE 0 END AS todo,
  tasks, median_s, spread, input_bytes, input_records, cpu_s, wait_s, tick_s
FROM (
  SELECT e.*,
    min(CASE WHEN state <> 'gone' THEN phase_id END) OVER (PARTITION BY program, identity, kind, ordinal) AS stage_id,
    CAST(sum(CASE WHEN state = 'gone' THEN 0 ELSE 1 END) OVER (
      PARTITION BY program, identity, kind, ordinal ORDER BY run_start_time NULLS LAST, phase_id NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) AS place,
    max(CASE WHEN state = 'known' THEN 0 ELSE 1 END) OVER (
      PARTITION BY program, identity, kind, ordinal ORDER BY run_start_time NULLS LAST, phase_id NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS changed,
    CASE WHEN state = 'known' THEN 1 ELSE 0 END AS known
  FROM (
    SELECT phase_id, program, identity, kind, ordinal, run_start_time, tasks, median_s, spread, input_bytes, input_records, cpu_s, wait_s, tick_s, 'new' AS state
    FROM detected_own
    WHERE ordinal IS NOT NULL
    UNION ALL
    SELECT b.phase_id, b.program, b.identity, b.kind, b.ordinal, b.run_start_time, b.tasks, b.median_s, b.spread, b.input_bytes, b.input_records, b.cpu_s, b.wait_s, b.tick_s,
      CASE WHEN b.stands THEN 'known' ELSE 'gone' END
    FROM detected_before b SEMI JOIN (
      SELECT program, identity, kind, ordinal FROM detected_own
      UNION ALL
      SELECT program, identity, kind, ordinal FROM detected_before WHERE NOT stands
    ) AS c ON c.program = b.program AND c.identity = b.identity AND c.kind = b.kind AND c.ordinal = b.ordinal
  ) AS e
) AS numbered
WHERE state <> 'gone'
