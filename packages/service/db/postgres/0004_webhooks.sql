-- Outgoing webhooks: who wants to hear, what is to be told, and what became of telling it.

create table webhook_endpoints (
  tenant_id text not null,
  project_id text not null,
  id text not null,
  url text not null,
  event_types text[] not null,
  description text,
  -- What signs: needed as it is. Never logged; shown only when it is made.
  secret text not null,
  previous_secret text,
  previous_secret_until bigint,
  -- Since when there was nothing but failures; null after a success.
  failing_since_ms bigint,
  disabled_at bigint,
  disabled_reason text check (disabled_reason in ('gone', 'failing')),
  created_at bigint not null,
  updated_at bigint not null,
  primary key (project_id, id),
  foreign key (tenant_id, project_id) references projects (tenant_id, id),
  check ((disabled_at is null) = (disabled_reason is null)),
  check ((previous_secret is null) = (previous_secret_until is null))
);

-- Written in the transaction whose event it tells of.
create table webhook_messages (
  tenant_id text not null,
  project_id text not null,
  id text not null,
  type text not null,
  -- What happens only once is told only once.
  dedupe_key text,
  -- The JSON text as it is signed and sent.
  payload text not null,
  created_at_ms bigint not null,
  -- Null until its deliveries have been written.
  fanned_out_at_ms bigint,
  primary key (project_id, id)
);
create unique index webhook_messages_once on webhook_messages (project_id, dedupe_key) where dedupe_key is not null;
create index webhook_messages_waiting on webhook_messages (created_at_ms) where fanned_out_at_ms is null;
create index webhook_messages_age on webhook_messages (created_at_ms);

create table webhook_deliveries (
  tenant_id text not null,
  project_id text not null,
  endpoint_id text not null,
  message_id text not null,
  status text not null check (status in ('pending', 'delivered', 'failed', 'cancelled')),
  attempts integer not null default 0,
  -- While an attempt is under way: when it counts as lost. That time is also what tells this attempt from a later one.
  next_attempt_at_ms bigint,
  last_attempt_at_ms bigint,
  last_status integer,
  last_error text,
  delivered_at_ms bigint,
  created_at_ms bigint not null,
  primary key (project_id, endpoint_id, message_id),
  foreign key (project_id, endpoint_id) references webhook_endpoints (project_id, id) on delete cascade,
  foreign key (project_id, message_id) references webhook_messages (project_id, id) on delete cascade,
  check ((status = 'pending') = (next_attempt_at_ms is not null))
);
-- By endpoint first: what one endpoint has waiting, however much, costs the others nothing.
create index webhook_deliveries_due on webhook_deliveries (project_id, endpoint_id, next_attempt_at_ms)
  where status = 'pending';
-- For the deletion of old messages.
create index webhook_deliveries_of_message on webhook_deliveries (project_id, message_id);
