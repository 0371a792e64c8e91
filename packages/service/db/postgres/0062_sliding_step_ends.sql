-- Find the steps of sliding windows that do not count any more, also of subjects without new usage.
-- oldest release: 0.1.0
-- no transaction
create index concurrently if not exists sliding_steps_by_end on sliding_steps (counts_until);
