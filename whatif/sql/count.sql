SELECT count(*) AS n FROM attempts
