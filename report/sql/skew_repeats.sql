-- Tasks that were slow because of their input, of stages that ran more than once, recurring ones first. Of the whole store: the
-- executions of one program are compared.
SELECT program, stage, kind, exchange, ordinal, task, executions, skewed, repeats, ratio, seconds, phase_id, count(*) OVER () AS total
FROM skew_repeats
WHERE executions > 1
ORDER BY CASE WHEN repeats THEN 0 ELSE 1 END NULLS LAST, seconds DESC NULLS LAST, program NULLS LAST, stage NULLS LAST, ordinal NULLS LAST, task NULLS LAST
LIMIT 50
