-- Leases are held by the limits of every level of their subject.
-- oldest release: 0.1.0
alter table budget_leases
  -- The subject of each rule, in the order of the rules; null where all rules are those of the lease's own subject.
  add column rule_subject_types text[],
  add column rule_subject_ids text[];
