-- What the slow tasks of the picked phases have in common: seconds over the usual by cause and location. Needs
-- report_slow_phases.
SELECT h.phase_id, h.cause, h.place, CAST(sum(CAST(round(h.seconds * 1e6) AS DECIMAL(28, 0))) AS DOUBLE) / 1e6 AS seconds
FROM history_attributions h SEMI JOIN report_slow_phases r ON r.phase_id = h.phase_id
GROUP BY h.phase_id, h.cause, h.place
ORDER BY h.phase_id NULLS LAST, seconds DESC NULLS LAST, h.cause NULLS LAST, h.place NULLS LAST
