-- What the rows of a batch touch: one entry per project of project_ids, the minutes of its charge items in Unix seconds.
alter table usage_batches add column touched int8multirange[] not null default '{}';

-- What changed in ClickHouse, told by the projector in the transaction that ends a group. One projector writes at a time, so
-- positions become visible in their order. The oldest go after a few minutes.
create table projections (
  position bigint generated always as identity primary key,
  project_id text not null,
  -- Of charge items, in Unix seconds.
  spans int8multirange not null,
  at_ms bigint not null
);
-- Finds what has expired.
create index projections_by_time on projections (at_ms, position);
