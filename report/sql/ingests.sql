SELECT ingest_id, files, bytes, rows_in, rows_out, rejects, format, tool_version
FROM ingests
ORDER BY ingest_id NULLS LAST
