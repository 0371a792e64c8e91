-- Corrections of usage: what was asked, what was planned, and which events they have changed. Rows of usage are never
-- changed: a correction adds rows that take back a revision of an event, and rows of its next revision.
-- oldest release: 0.1.0

create table usage_corrections (
  tenant_id text not null,
  project_id text not null,
  id text not null,
  action text not null check (action in ('void', 'replace', 'rerate')),
  status text not null check (status in (
    'planning', 'planned', 'applying', 'applied', 'reverting', 'reverted', 'stale', 'failed', 'expired'
  )),
  -- The event, if one was named.
  raw_event_id uuid,
  -- The filter and the rules, or the new content of the event.
  request json not null,
  backtest_id text,
  reason text not null,
  -- Whether the plan is applied at once.
  is_applied_at_once boolean not null,
  created_by text not null,
  created_at_ms bigint not null,
  planned_at_ms bigint,
  applied_at_ms bigint,
  -- Who has asked to apply it; that is who created it, unless it waited as a plan.
  applied_by text,
  reverted_at_ms bigint,
  reverted_by text,
  -- The last event that planning has looked at.
  planned_up_to uuid,
  events_total bigint,
  events_matched bigint not null default 0,
  events_changed bigint not null default 0,
  -- Numbers by failure code.
  events_failed json not null default '{}',
  -- Events whose change is in force.
  events_applied bigint not null default 0,
  part_count integer not null default 0,
  -- The part that is applied or reverted next.
  next_part integer not null default 0,
  examples json not null default '[]',
  failure_code text,
  failure_message text,
  -- No other process works on the correction before this time.
  busy_until_ms bigint not null default 0,
  primary key (project_id, id),
  foreign key (tenant_id, project_id) references projects (tenant_id, id)
);
create trigger refuse_moving_tenant before insert or update on usage_corrections
  for each row execute function refuse_moving_tenant();
create trigger keep_row_of_moving_tenant before delete on usage_corrections
  for each row execute function keep_row_of_moving_tenant();
create index usage_corrections_open on usage_corrections (busy_until_ms)
  where status in ('planning', 'applying', 'reverting');
create index usage_corrections_planned on usage_corrections (planned_at_ms) where status = 'planned';

-- The changes of a correction, in parts. Each part is applied and reverted in one transaction.
create table usage_correction_parts (
  tenant_id text not null,
  project_id text not null,
  correction_id text not null,
  no integer not null,
  -- Ascending; the other lists are in the same order.
  raw_event_ids uuid[] not null,
  former_revisions integer[] not null,
  -- How often the events had been rated again after they failed, which changes an event without a new revision.
  former_attempts integer[] not null,
  -- The corrections that had made the former revisions; empty text for events as they were rated first. Null until the
  -- part is applied.
  former_corrections text[],
  -- What the next revisions contain, compressed.
  outcomes bytea not null,
  -- Failed events that applying has removed from failed_events; reverting puts them back.
  failed_events json not null default '[]',
  is_applied boolean not null default false,
  primary key (project_id, correction_id, no),
  foreign key (project_id, correction_id) references usage_corrections (project_id, id) on delete cascade
);
alter table usage_correction_parts alter column outcomes set storage external;

create table usage_correction_totals (
  tenant_id text not null,
  project_id text not null,
  correction_id text not null,
  -- Planned, or in force.
  is_applied boolean not null,
  metric text not null,
  unit text not null,
  currency text not null,
  account_id text not null,
  quantity_before numeric not null,
  quantity_after numeric not null,
  amount_before numeric not null,
  amount_after numeric not null,
  primary key (project_id, correction_id, is_applied, metric, unit, currency, account_id),
  foreign key (project_id, correction_id) references usage_corrections (project_id, id) on delete cascade
);

-- The latest revisions of events that were corrected; all other events have revision 1.
create table usage_event_revisions (
  tenant_id text not null,
  project_id text not null,
  raw_event_id uuid not null,
  revision integer not null check (revision > 1),
  -- The correction whose result is in force; empty text when the event is again as it was rated first.
  correction_id text not null,
  primary key (project_id, raw_event_id)
);

alter table usage_event_totals add column voided_count bigint not null default 0,
  -- How often events of the day were corrected: it only grows, so that a correction and its revert do not go unnoticed.
  add column correction_count bigint not null default 0;
alter table ingest_totals add column voided_count bigint not null default 0;
-- The correction that has given a failed event back, which made the revision that its next attempt replaces.
alter table failed_events add column correction_id text not null default '';

-- The release of a process; null for 0.1.0, whose projector would insert rows of corrections as other rows.
alter table lease_members add column release text;
