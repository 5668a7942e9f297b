-- The settings of an application. {key} is the application's.
SELECT name, value FROM settings WHERE application_id = {key} ORDER BY name, value LIMIT 10000
