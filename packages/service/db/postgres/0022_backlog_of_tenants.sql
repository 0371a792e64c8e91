-- What each segment holds of each tenant, so that a tenant's part of the backlog is known without reading the segments.
-- Segments from before, and those of a process of an older version, count for nobody until they are rated.
alter table segments
  add column tenant_ids text[] not null default '{}',
  add column tenant_event_counts integer[] not null default '{}',
  add column tenant_byte_counts integer[] not null default '{}',
  add constraint segments_tenants_of_one_length check (
    cardinality(tenant_event_counts) = cardinality(tenant_ids)
    and cardinality(tenant_byte_counts) = cardinality(tenant_ids)
  );
