-- Tenants whose requests this installation does not serve, although it may have their rows: they are being moved
-- between two cells, or were moved to another one. Their keys and projects are not found.
create table unserved_tenants (
  tenant_id text primary key,
  since_ms bigint not null
);
