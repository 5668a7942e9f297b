-- The executions of the stages that have changed, numbered by time: takes detected_own, the executions that are new,
-- detected_before, those known from earlier results and whether they are still valid, and detected_strides. Returns the
-- executions of these stages that matter.
--
-- place numbers the executions of a stage from 1 in the order in which their applications started: an earlier execution has a
-- smaller one. stage_id is the key of one of them. todo says that the results for an execution must be computed: it is new, or
-- one before it is new, has changed or was removed. known says that earlier results have it. Of the states of an execution,
-- settled means that it started before everything that has changed.
--
-- Executions that started before everything that has changed have the places that earlier results gave them. Of these, only
-- those that others are compared with are present, every k-th counted from the first: those that the first one to do is
-- compared with, since later ones are compared with no others.
WITH
changed AS (
  SELECT program, identity, kind, ordinal, min(run_start_time) AS since
  FROM (
    SELECT program, identity, kind, ordinal, run_start_time FROM detected_own WHERE ordinal IS NOT NULL
    UNION ALL
    SELECT program, identity, kind, ordinal, run_start_time FROM detected_before WHERE NOT stands
  ) AS e
  GROUP BY program, identity, kind, ordinal
),
-- number replaces the four columns, which then need not be kept for each execution.
placed AS (
  SELECT p.*, r.stride, row_number() OVER (ORDER BY program NULLS LAST, identity NULLS LAST, kind NULLS LAST, ordinal NULLS LAST) AS number
  FROM (
    SELECT c.program, c.identity, c.kind, c.ordinal, c.since, coalesce(max(CASE WHEN b.run_start_time < c.since THEN b.executions + 1 END), 0) AS places
    FROM changed c LEFT JOIN detected_before b ON b.program = c.program AND b.identity = c.identity AND b.kind = c.kind AND b.ordinal = c.ordinal
    GROUP BY c.program, c.identity, c.kind, c.ordinal, c.since
  ) AS p JOIN detected_strides r ON p.places + 1 BETWEEN r.first_place AND r.last_place
)
SELECT phase_id, stage_id, CASE WHEN state = 'settled' THEN executions + 1 ELSE places + nth END AS place,
  CAST(CASE WHEN state = 'new' THEN 0 ELSE 1 END AS BIGINT) AS known,
  CAST(CASE WHEN state = 'new' OR state = 'known' AND changed > 0 THEN 1 ELSE 0 END AS BIGINT) AS todo,
  tasks, median_s, spread, input_bytes, input_records, cpu_s, wait_s, tick_s
FROM (
  SELECT e.*,
    min(CASE WHEN state IN ('new', 'known') THEN phase_id END) OVER (PARTITION BY number) AS stage_id,
    CAST(sum(CASE WHEN state IN ('new', 'known') THEN 1 ELSE 0 END) OVER (
      PARTITION BY number ORDER BY run_start_time NULLS LAST, phase_id NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) AS nth,
    max(CASE WHEN state IN ('new', 'gone') THEN 1 ELSE 0 END) OVER (
      PARTITION BY number ORDER BY run_start_time NULLS LAST, phase_id NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS changed
  FROM (
    SELECT o.phase_id, p.number, p.places, o.run_start_time, CAST(NULL AS BIGINT) AS executions,
      o.tasks, o.median_s, o.spread, o.input_bytes, o.input_records, o.cpu_s, o.wait_s, o.tick_s, 'new' AS state
    FROM detected_own o JOIN placed p ON p.program = o.program AND p.identity = o.identity AND p.kind = o.kind AND p.ordinal = o.ordinal
    UNION ALL
    SELECT b.phase_id, p.number, p.places, b.run_start_time, b.executions,
      b.tasks, b.median_s, b.spread, b.input_bytes, b.input_records, b.cpu_s, b.wait_s, b.tick_s,
      CASE WHEN coalesce(b.run_start_time < p.since, FALSE) THEN 'settled' WHEN b.stands THEN 'known' ELSE 'gone' END
    FROM detected_before b JOIN placed p ON p.program = b.program AND p.identity = b.identity AND p.kind = b.kind AND p.ordinal = b.ordinal
    WHERE b.executions % p.stride = 0 OR NOT coalesce(b.run_start_time < p.since, FALSE)
  ) AS e
) AS numbered
WHERE state <> 'gone' AND stage_id IS NOT NULL
