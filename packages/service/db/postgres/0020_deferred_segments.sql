-- Segments of a tenant whose events take long to rate: they wait behind each other, and no other tenant waits behind them.

-- Null where nobody has looked into the segment yet. A deferred one holds requests of one project, and of one month.
alter table segments add column deferred_tenant_id text;
-- What was not deferred is claimed by id, without reading past what was.
create index segments_new on segments (id) where deferred_tenant_id is null;
-- Tenants take turns; of one tenant the oldest comes first, also where a part of it was put back.
create index segments_deferred on segments (deferred_tenant_id, received_at_ms, id) where deferred_tenant_id is not null;
