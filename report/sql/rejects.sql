-- The first rejected records. Needs report_rejects.
SELECT source_file, line, byte_offset, reason, sample
FROM report_rejects
ORDER BY source_file NULLS LAST, byte_offset NULLS LAST, line NULLS LAST, reason NULLS LAST
LIMIT 20
