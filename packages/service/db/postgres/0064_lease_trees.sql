-- A lease may be a part of another one.
-- oldest release: 0.1.0
alter table budget_leases
  -- The lease that it is a part of, the one which that is a part of, and so on; null for none.
  add column ancestor_ids text[],
  -- Whether there are, or were, parts of the lease; null for no.
  add column has_children boolean;
