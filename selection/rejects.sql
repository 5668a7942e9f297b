-- The rejected records of a store, with the source_file of the applications that they belong to as input: the file that they are
-- in, or its directory if applications were read from that as a whole. It is NULL if no application was read from either.
SELECT x.source_file, x.line, x.byte_offset, x.reason, x.sample, coalesce(f.source_file, d.source_file) AS input
FROM rejects x
  LEFT JOIN (SELECT DISTINCT source_file FROM applications) AS f ON f.source_file = x.source_file
  LEFT JOIN (SELECT DISTINCT source_file FROM applications) AS d ON d.source_file = regexp_replace(x.source_file, '/[^/]*$', '')
