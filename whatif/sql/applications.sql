SELECT * FROM applications ORDER BY application_id NULLS LAST
