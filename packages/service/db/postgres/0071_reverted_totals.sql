-- oldest release: 0.1.0
-- The totals that a revert takes back: those in force when it began. The audit log records them when it has ended.
alter table usage_corrections add column reverted_totals json;
