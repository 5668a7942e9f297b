-- The owners of the keys in the rows of some inputs: takes those rows of attempts, phases, jobs and applications, with the
-- input of each, returns the blocks of keys that they name, one row each. {block} has the bits that the keys of a block share.
--
-- If an input names keys of no other, its phases can be processed without the rest of the store.
WITH named AS ( -- attempts are read once
  SELECT DISTINCT input_key, phase_id & {block} AS phases, application_id & {block} AS applications FROM chosen_attempts
)
SELECT DISTINCT input_key, 'phases' AS tab, phases AS first FROM named WHERE phases IS NOT NULL
UNION ALL
SELECT DISTINCT input_key, 'applications', applications FROM named WHERE applications IS NOT NULL
UNION ALL
SELECT DISTINCT input_key, 'phases', phase_id & {block} FROM chosen_phases
UNION ALL
SELECT DISTINCT input_key, 'applications', application_id & {block} FROM chosen_applications
UNION ALL
SELECT DISTINCT input_key, 'jobs', job_id & {block} FROM chosen_phases
UNION ALL
SELECT DISTINCT input_key, 'jobs', job_id & {block} FROM chosen_jobs
UNION ALL
SELECT DISTINCT input_key, 'applications', application_id & {block} FROM chosen_jobs
