SELECT attempt_id, recompute, phase_id, task, number, machine, executor, start_time, finish_time, status, speculative,
    locality, input_bytes, input_records, remote_bytes, output_bytes, shuffle_write_bytes, spill_bytes, cpu_s, fetch_wait_s, gc_s,
    scheduler_delay_s, deserialize_s, result_s
FROM attempts
WHERE {those}
ORDER BY attempt_id NULLS LAST
