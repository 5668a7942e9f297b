SELECT * FROM machines
ORDER BY application_id NULLS LAST, machine NULLS LAST, executor NULLS LAST, added_time NULLS LAST, removed_time NULLS LAST,
    slots NULLS LAST
