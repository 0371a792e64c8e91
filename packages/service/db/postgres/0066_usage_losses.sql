-- Events whose objects are lost, and that the operator has given up.
-- oldest release: 0.1.0

create table usage_losses (
  tenant_id text not null,
  project_id text not null,
  -- received: events that are not rated. rated: rows that did not reach ClickHouse. archived: rows of the archive.
  kind text not null check (kind in ('received', 'rated', 'archived')),
  -- The number of the segment, of the batch or of the block.
  number bigint not null,
  object_key text not null,
  -- Received events of the project. Otherwise the rows of the object, those of other projects included.
  event_count bigint not null,
  -- The days of the rows, as days since 1970, or a wider range. Null for received events.
  first_day integer,
  last_day integer,
  -- When the oldest event arrived; null for rows of the archive.
  received_at_ms bigint,
  given_up_at_ms bigint not null,
  reason text not null,
  primary key (project_id, kind, number)
);
