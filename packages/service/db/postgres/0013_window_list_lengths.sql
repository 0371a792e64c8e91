-- The lists of a subject's windows have one length: a window without its limit or its usage must not be stored.
-- Rows that exist are checked by the next migration, in a transaction of its own, while others go on writing.
alter table current_windows add constraint current_windows_of_one_length check (
  cardinality(window_starts) = cardinality(rule_nos) and cardinality(window_ends) = cardinality(rule_nos)
  and cardinality(used) = cardinality(rule_nos) and cardinality(limit_amounts) = cardinality(rule_nos)
  and cardinality(next_notices) = cardinality(rule_nos) and cardinality(opened_at_ms) = cardinality(rule_nos)
) not valid;
