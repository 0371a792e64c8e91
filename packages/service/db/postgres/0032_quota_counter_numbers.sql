-- The number of the quota counters of the next accepting process. Processes that run side by side get different numbers,
-- and numbers are used again, so that a quota has 64 counters at most.
create sequence event_quota_counter_numbers as smallint minvalue 1 maxvalue 64 cycle;
