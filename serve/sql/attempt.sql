SELECT * FROM attempts WHERE attempt_id = {key}
