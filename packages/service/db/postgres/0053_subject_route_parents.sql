-- Routes can have a parent; those that do may leave the account to it. The next migration checks the routes that exist.
-- oldest release: 0.1.0
alter table subject_routes
  -- The subject above; both null without one.
  add column parent_type text,
  add column parent_id text,
  alter column account_id drop not null,
  add constraint subject_routes_parent_check check ((parent_type is null) = (parent_id is null)) not valid,
  add constraint subject_routes_account_check check (parent_type is not null or account_id is not null) not valid;
