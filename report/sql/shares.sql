-- What each late task cost its phase: the stretch of the phase's lost time between the ends of two tasks is divided
-- equally among the tasks that ended after it. One row per late task and cause of it; outliers that were not late have
-- rows too, with a share of 0. Needs report_apps, report_redone and report_beaten.
--
-- g is when the phase would have ended with every task at most the median; a task is late when it ended after g. A phase that
-- only recomputes lost outputs is lost as a whole: its g is its start. alone_s is how much earlier the phase would have ended
-- if only this task had taken at most the median.
WITH
timed AS (
  SELECT a.attempt_id, a.phase_id, a.machine, unix_micros(a.finish_time) AS f,
    CASE WHEN d.phase_id IS NOT NULL THEN unix_micros(coalesce(h.start_time, a.start_time))
         ELSE least(unix_micros(a.finish_time), unix_micros(a.start_time) + CAST(round(s.median_s * 1e6) AS BIGINT)) END AS g
  FROM attempts a JOIN phases h ON h.phase_id = a.phase_id JOIN phase_stats s ON s.phase_id = a.phase_id
    SEMI JOIN report_apps r ON r.application_id = a.application_id
    LEFT JOIN report_beaten b ON b.attempt_id = a.attempt_id
    LEFT JOIN report_redone d ON d.phase_id = h.phase_id
  WHERE (s.lost_s > 0 OR d.phase_id IS NOT NULL) AND a.status = 'success' AND a.start_time IS NOT NULL AND a.finish_time IS NOT NULL
    AND a.duration_s BETWEEN 0 AND 1e15 AND (a.recompute OR b.attempt_id IS NULL)
),
floors AS (
  SELECT phase_id, max(g) AS g FROM timed GROUP BY phase_id
),
late AS (
  SELECT t.attempt_id, t.phase_id, t.machine,
    t.f - greatest(coalesce(lead(t.f) OVER (PARTITION BY t.phase_id ORDER BY t.f DESC NULLS LAST, t.attempt_id NULLS LAST), l.g), l.g) AS stretch,
    row_number() OVER (PARTITION BY t.phase_id ORDER BY t.f DESC NULLS LAST, t.attempt_id NULLS LAST) AS place
  FROM timed t JOIN floors l ON l.phase_id = t.phase_id
  WHERE t.f > l.g
),
shared AS (
  SELECT attempt_id, phase_id, machine,
    sum(stretch / 1e6 / place) OVER (PARTITION BY phase_id ORDER BY place NULLS LAST ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS share_s,
    CASE WHEN place = 1 THEN stretch / 1e6 ELSE CAST(0 AS DOUBLE) END AS alone_s
  FROM late
)
SELECT s.phase_id, s.attempt_id, s.machine, CAST(s.share_s AS DOUBLE) AS share_s, CAST(s.alone_s AS DOUBLE) AS alone_s, c.cause, c.seconds, c.rank
FROM (
    SELECT phase_id, attempt_id, machine, share_s, alone_s FROM shared
    UNION ALL
    SELECT a.phase_id, a.attempt_id, a.machine, CAST(0 AS DOUBLE) AS share_s, CAST(0 AS DOUBLE) AS alone_s
    FROM attempts a SEMI JOIN report_apps r ON r.application_id = a.application_id
      SEMI JOIN attributions o ON o.attempt_id = a.attempt_id
      ANTI JOIN shared x ON x.attempt_id = a.attempt_id
  ) s
  LEFT JOIN attributions c ON c.attempt_id = s.attempt_id
ORDER BY s.phase_id NULLS LAST, s.attempt_id NULLS LAST, c.rank NULLS LAST, c.cause NULLS LAST
