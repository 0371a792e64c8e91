-- Leases hold several amounts and quantities, and name dimensions.
-- oldest release: 0.1.0
alter table budget_leases
  -- What a lease holds that was asked for with holds: null for one amount, which the columns before have. Otherwise they
  -- have an amount of 0, so that a process of release 0.1.0 charges and releases nothing of it.
  add column holds json,
  -- The texts of the dimensions that the lease names, by name; null for none.
  add column dimensions json,
  drop constraint budget_leases_amount_check;
