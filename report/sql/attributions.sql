-- Where the excess of the picked attempts went. Needs report_picked_attempts.
SELECT c.attempt_id, c.cause, c.seconds, c.share, c.rank, c.confidence, c.evidence
FROM attributions c SEMI JOIN report_picked_attempts r ON r.attempt_id = c.attempt_id
ORDER BY c.attempt_id NULLS LAST, c.rank NULLS LAST, c.cause NULLS LAST
