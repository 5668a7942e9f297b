-- A checksum of the history of stages for each block of phases: takes stage_history. {block} has the bits that the keys of a
-- block share. Integers, since sums of doubles depend on their order.
SELECT phase_id & {block} AS first,
  CAST(sum((1 + phase_id % 1009) * (
    CAST(floor(1e6 * ln(1 + abs(usual_s))) AS BIGINT)
    + 3 * CAST(floor(1e6 * ln(1 + abs(coalesce(within_run, 0)))) AS BIGINT)
    + 5 * CAST(floor(1e6 * ln(1 + abs(coalesce(limit_s, 0)))) AS BIGINT)
    + 7 * CAST(floor(1e6 * ln(1 + abs(coalesce(work_ratio, 0)))) AS BIGINT)
    + 11 * CAST(floor(1e6 * ln(1 + abs(coalesce(usual_cpu_s, 0)))) AS BIGINT)
    + 13 * CAST(floor(1e6 * ln(1 + abs(coalesce(usual_wait_s, 0)))) AS BIGINT)
    + 17 * CAST(floor(1e6 * ln(1 + abs(coalesce(usual_input_bytes, 0)))) AS BIGINT)
    + 19 * CAST(floor(1e6 * ln(1 + abs(coalesce(usual_input_records, 0)))) AS BIGINT))) AS BIGINT) AS mark
FROM stage_history
WHERE usual_s IS NOT NULL
GROUP BY phase_id & {block}
