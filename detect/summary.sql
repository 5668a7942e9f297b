-- The totals of the results of a store, in one row: takes phase_stats and stage_history.
SELECT s.phases, s.judged, s.attempts, s.lost_s, h.repeated, h.slow
FROM (
  SELECT count(*) AS phases, count(slowdown_basis) AS judged, CAST(coalesce(sum(attempts), 0) AS BIGINT) AS attempts,
    coalesce(sum(lost_s), 0) AS lost_s
  FROM phase_stats
) AS s
CROSS JOIN (SELECT count(slow) AS repeated, count(*) FILTER (WHERE slow) AS slow FROM stage_history) AS h
