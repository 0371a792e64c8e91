-- Finds the active leases below another one.
-- oldest release: 0.1.0
-- no transaction
create index concurrently if not exists budget_leases_below
  on budget_leases using gin (ancestor_ids) where ancestor_ids is not null and status = 'active';
