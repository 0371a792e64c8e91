-- When a correction made its last step, to notice one that makes none. Null before the first step, and for steps of
-- older releases.
-- oldest release: 0.1.0
alter table usage_corrections add column progressed_at_ms bigint;
