-- Tollgate's system of record. Times are Unix seconds unless the name ends in _ms.

create table tenants (
  id text primary key,
  name text not null,
  created_at bigint not null
);

create table projects (
  tenant_id text not null references tenants (id),
  id text not null,
  -- Short surrogate: keeps the index of usage_event_ids narrow.
  no integer generated always as identity,
  name text not null,
  kind text not null check (kind in ('development', 'release')),
  storage text not null check (storage in ('shared', 'dedicated')),
  created_at bigint not null,
  primary key (tenant_id, id),
  unique (id),
  unique (no)
);

create table api_keys (
  tenant_id text not null references tenants (id),
  id text not null,
  project_id text,
  name text not null,
  -- SHA-256 of the key's text; the text itself is never stored.
  key_hash bytea not null,
  permissions text[] not null,
  expires_at bigint,
  created_at bigint not null,
  revoked_at bigint,
  primary key (tenant_id, id),
  unique (key_hash),
  foreign key (tenant_id, project_id) references projects (tenant_id, id)
);

-- People who are signed in to the console. A session speaks for the API key it was opened with, and ends with it.
create table console_sessions (
  -- SHA-256 of the session's token; the token itself is only in the browser's cookie.
  id_hash bytea primary key,
  -- SHA-256 of the API key, as in api_keys, or of the service key.
  key_hash bytea not null,
  created_at bigint not null,
  expires_at bigint not null
);
create index console_sessions_by_end on console_sessions (expires_at);

create table audit_log (
  tenant_id text not null references tenants (id),
  id text not null,
  project_id text,
  actor text not null,
  action text not null,
  resource_type text not null,
  resource_id text not null,
  change json,
  request_id text not null,
  created_at bigint not null,
  primary key (tenant_id, id)
);

-- One id, many versions. An extractor rule set says how events are read; a pricing rule set is bound to one and prices
-- what its extractors leave unpriced.
create table rule_sets (
  tenant_id text not null,
  project_id text not null,
  id text not null,
  kind text not null check (kind in ('extractor', 'pricing')),
  -- What a pricing rule set is bound to, for good.
  extractor_rule_set_id text,
  -- Of an extractor rule set: bumped by every write to it and to the pricing rule sets bound to it, so that a cache can
  -- tell in one narrow read whether it is stale.
  revision bigint not null default 1,
  archived_at bigint,
  created_at bigint not null,
  primary key (project_id, id),
  foreign key (tenant_id, project_id) references projects (tenant_id, id),
  foreign key (project_id, extractor_rule_set_id) references rule_sets (project_id, id),
  check ((kind = 'pricing') = (extractor_rule_set_id is not null))
);
create index rule_sets_by_extractor on rule_sets (project_id, extractor_rule_set_id)
  where extractor_rule_set_id is not null;

create table rule_set_versions (
  tenant_id text not null,
  project_id text not null,
  rule_set_id text not null,
  version integer not null check (version > 0),
  name text,
  -- The template that was expanded into the config, if any.
  template_id text,
  effective_from bigint not null,
  -- As configured: subject, dimensions and charge_item_extractors; or currency and rules, sorted by priority.
  config json not null,
  created_at bigint not null,
  published_at bigint,
  primary key (project_id, rule_set_id, version),
  foreign key (project_id, rule_set_id) references rule_sets (project_id, id)
);

-- The usage queue. A row holds many requests of many projects, framed, as they were received.
create table segments (
  id bigint generated always as identity primary key,
  received_at_ms bigint not null,
  event_count integer not null check (event_count > 0),
  project_ids text[] not null,
  project_event_counts integer[] not null,
  byte_count integer not null,
  -- The frame; null where it is in a file of the data directory: large ones, beside an embedded PostgreSQL.
  bytes bytea,
  file_name text,
  file_offset bigint,
  file_crc32 bigint,
  constraint segments_in_one_place check (num_nonnulls(file_name, file_offset, file_crc32) = case when bytes is null then 3 else 0 end)
);
alter table segments alter column bytes set storage external;

-- Segments that no worker could read: damaged, or framed by a later version. Copied back into `segments` they are tried again.
create table unreadable_segments (
  id bigint primary key,
  received_at_ms bigint not null,
  event_count integer not null,
  project_ids text[] not null,
  project_event_counts integer[] not null,
  problem text not null,
  bytes bytea not null
);

-- Every raw event that was ever rated, for deduplication.
create table usage_event_ids (
  project_no integer not null,
  raw_event_id uuid not null,
  primary key (project_no, raw_event_id)
);

-- Events that could not be rated, kept whole until they are reprocessed.
create table failed_events (
  tenant_id text not null,
  project_id text not null,
  raw_event_id uuid not null,
  occurred_at bigint not null,
  received_at_ms bigint not null,
  extractor_rule_set_id text not null,
  failure_code text not null,
  attempt integer not null,
  -- The event's JSON text, as in the body that brought it.
  event text not null,
  primary key (project_id, raw_event_id)
);
create index failed_events_by_time on failed_events (project_id, occurred_at, raw_event_id);

-- Per day of occurred_at (days since 1970, UTC): what ClickHouse must add up to.
create table usage_totals (
  tenant_id text not null,
  project_id text not null,
  day integer not null,
  metric text not null,
  unit text not null,
  currency text not null,
  item_count bigint not null,
  quantity numeric not null,
  amount numeric not null,
  primary key (project_id, day, metric, unit, currency)
);

create table usage_event_totals (
  tenant_id text not null,
  project_id text not null,
  day integer not null,
  processed_count bigint not null,
  failed_count bigint not null,
  primary key (project_id, day)
);

create table ingest_totals (
  tenant_id text not null,
  project_id text not null,
  processed_count bigint not null,
  failed_count bigint not null,
  duplicate_count bigint not null,
  primary key (project_id)
);

-- Rated batches on their way to ClickHouse, in commit order of their worker.
create table usage_batches (
  id bigint generated always as identity primary key,
  created_at_ms bigint not null,
  oldest_received_at_ms bigint not null,
  event_count integer not null,
  item_count integer not null,
  -- Of the rows: what the worker may leave to the projector is bounded.
  byte_count bigint not null,
  project_ids text[] not null,
  -- The number of the project whose own tables take the rows; null: the tables that projects share.
  dedicated_to integer,
  -- Encoded rows of usage_events: a file of the spool folder, or the bytes themselves.
  spool_file text,
  bytes bytea,
  -- Set before the insert: batches of one group are one block, under the token of their first.
  insert_group bigint,
  -- Random, so that a database that was restored or made anew never repeats the token of other rows.
  insert_token uuid not null default gen_random_uuid(),
  check ((spool_file is null) <> (bytes is null))
);
alter table usage_batches alter column bytes set storage external;
create index usage_batches_by_group on usage_batches (insert_group, dedicated_to, id);
