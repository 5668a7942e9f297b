SELECT attempt_id, recompute, phase_id, task, number, machine, executor, start_time, finish_time, status, speculative,
    locality, input_bytes, input_records
FROM attempts
ORDER BY attempt_id NULLS LAST
