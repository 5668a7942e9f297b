-- The health of machines by period of time, and the seconds lost to slow machines, summed over tasks. A period uses the
-- machine's runs if these were judged individually, and otherwise the windows over all runs that begin in it. {days} is the
-- length of a period; weeks begin on Mondays, as 1970 began on a Thursday. {where} selects the machines.
SELECT h.*, l.lost_s
FROM (
  SELECT machine, period, CAST(sum(attempts) AS BIGINT) AS attempts,
    exp(sum(attempts * ln(factor) ORDER BY window_start, application_id) FILTER (WHERE factor > 0) / sum(attempts) FILTER (WHERE factor > 0)) AS factor,
    count(*) AS judged, count(*) FILTER (WHERE verdict IN ('slow', 'flaky')) AS bad, CAST(sum(losses) AS BIGINT) AS losses
  FROM (
    SELECT * FROM (
      SELECT *, CAST(floor((unix_micros(window_start) / 86400e6 + 3) / {days}) AS BIGINT) AS period, CAST(application_id IS NOT NULL AS INT) AS of_run
      FROM machine_health
      WHERE machine IS NOT NULL AND {where}
    )
    QUALIFY of_run = max(of_run) OVER (PARTITION BY machine, period)
  )
  GROUP BY machine, period
) h LEFT JOIN (
  SELECT a.machine, CAST(floor((unix_micros(a.start_time) / 86400e6 + 3) / {days}) AS BIGINT) AS period, CAST(sum(TRY_CAST(round(c.seconds * 1e6) AS DECIMAL(28, 0))) AS DOUBLE) / 1e6 AS lost_s
  FROM (SELECT attempt_id, seconds FROM attributions WHERE cause = 'bad_machine') c
    JOIN (SELECT attempt_id, machine, start_time FROM attempts WHERE start_time IS NOT NULL AND {where}) a ON a.attempt_id = c.attempt_id
  GROUP BY 1, 2
) l ON l.machine = h.machine AND l.period = h.period
ORDER BY h.machine, h.period
