-- Which phase reads which, for the depth of a stage in its job.
SELECT job_id, from_phase, to_phase FROM edges
ORDER BY job_id NULLS LAST, from_phase NULLS LAST, to_phase NULLS LAST
