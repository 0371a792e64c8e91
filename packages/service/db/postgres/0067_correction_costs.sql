-- The costs of the charge items that a correction changes, in the currency of the row.
-- oldest release: 0.1.0
alter table usage_correction_totals
  add column cost_before numeric not null default 0,
  add column cost_after numeric not null default 0;
