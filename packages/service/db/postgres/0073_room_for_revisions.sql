-- A revert changes as many rows as were inserted: the new versions of rows fit beside the old ones, so that the index
-- stays as it is.
-- oldest release: 0.1.0
alter table usage_event_revisions set (fillfactor = 50);
