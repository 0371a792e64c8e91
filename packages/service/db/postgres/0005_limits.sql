-- Subject routes, usage limit plans, direct limits, and what they have counted.

-- Bumped by every write to the routes, plans and direct limits of a project: caches tell in one narrow read whether they are stale.
create table limit_revisions (
  tenant_id text not null,
  project_id text not null,
  revision bigint not null,
  primary key (project_id),
  foreign key (tenant_id, project_id) references projects (tenant_id, id)
);

create table usage_limit_plans (
  tenant_id text not null,
  project_id text not null,
  id text not null,
  name text not null,
  title text not null,
  description text,
  current_revision integer not null default 0,
  archived_at bigint,
  created_at bigint not null,
  updated_at bigint not null,
  primary key (project_id, id),
  unique (project_id, name),
  foreign key (tenant_id, project_id) references projects (tenant_id, id)
);

-- Revision 0 is the draft.
create table usage_limit_plan_versions (
  tenant_id text not null,
  project_id text not null,
  id text not null,
  plan_id text not null,
  revision integer not null check (revision >= 0),
  title text not null,
  description text,
  published_at_ms bigint,
  created_at bigint not null,
  updated_at bigint not null,
  primary key (project_id, id),
  unique (project_id, plan_id, revision),
  foreign key (project_id, plan_id) references usage_limit_plans (project_id, id),
  check ((revision = 0) = (published_at_ms is null))
);

create table usage_limit_plan_rules (
  tenant_id text not null,
  project_id text not null,
  id text not null,
  plan_version_id text not null,
  position integer not null,
  limit_key text not null,
  measure text not null check (measure in ('amount', 'quantity')),
  selector_type text not null check (selector_type in ('all', 'metric', 'metric_prefix')),
  selector_value text not null,
  dimension_key text,
  dimension_value text,
  currency text not null,
  period text not null,
  limit_amount numeric not null,
  action text not null check (action in ('block', 'notify')),
  webhook_event text,
  notify_at integer[] not null,
  -- What accumulates under this rule, over all revisions: limit_rules.no.
  rule_no integer not null,
  created_at bigint not null,
  updated_at bigint not null,
  primary key (project_id, id),
  unique (project_id, plan_version_id, limit_key),
  foreign key (project_id, plan_version_id) references usage_limit_plan_versions (project_id, id) on delete cascade
);

create table subject_routes (
  tenant_id text not null,
  project_id text not null,
  id text not null,
  subject_type text not null,
  -- '*' is every id of that type that has no route of its own.
  subject_id text not null,
  account_id text not null,
  usage_limit_plan_id text,
  -- When the plan began to apply to this route.
  plan_bound_at_ms bigint,
  usage_limit_anchor bigint not null,
  timezone text not null,
  week_start text not null,
  created_at bigint not null,
  updated_at bigint not null,
  primary key (project_id, id),
  unique (project_id, subject_type, subject_id),
  foreign key (project_id, account_id) references accounts (project_id, id),
  foreign key (project_id, usage_limit_plan_id) references usage_limit_plans (project_id, id)
);
create index subject_routes_by_account on subject_routes (project_id, account_id);
create index subject_routes_by_plan on subject_routes (project_id, usage_limit_plan_id);

create table direct_limits (
  tenant_id text not null,
  project_id text not null,
  id text not null,
  route_id text not null,
  limit_key text not null,
  measure text not null check (measure in ('amount', 'quantity')),
  selector_type text not null check (selector_type in ('all', 'metric', 'metric_prefix')),
  selector_value text not null,
  dimension_key text,
  dimension_value text,
  currency text not null,
  period text not null,
  limit_amount numeric not null,
  action text not null check (action in ('block', 'notify')),
  webhook_event text,
  notify_at integer[] not null,
  rule_no integer not null,
  created_at bigint not null,
  updated_at bigint not null,
  primary key (project_id, id),
  unique (project_id, route_id, limit_key),
  foreign key (project_id, route_id) references subject_routes (project_id, id) on delete cascade
);

-- Amounts that a direct limit has had: a window takes that of its opening, or of a change that takes effect at once.
create table direct_limit_amounts (
  tenant_id text not null,
  project_id text not null,
  direct_limit_id text not null,
  changed_at_ms bigint not null,
  -- Another period is another rule, whose amounts begin with it.
  rule_no integer not null,
  limit_amount numeric not null,
  effective text not null check (effective in ('now', 'next_window')),
  primary key (project_id, direct_limit_id, changed_at_ms),
  foreign key (project_id, direct_limit_id) references direct_limits (project_id, id) on delete cascade
);

-- The identity of what accumulates: a plan's limit_key, or a direct limit, with one period and one unit of counting.
create table limit_rules (
  tenant_id text not null,
  project_id text not null,
  no integer generated always as identity,
  -- A plan's or a direct limit's id.
  owner_id text not null,
  -- Empty for a direct limit.
  limit_key text not null,
  -- One text for all ways to write it.
  period text not null,
  measure text not null check (measure in ('amount', 'quantity')),
  -- Of an amount; empty for a quantity.
  currency text not null,
  primary key (no),
  unique (project_id, owner_id, limit_key, period, measure, currency)
);

-- What subjects have used: the newest window of each rule, all those of a subject in one row. A batch that meets a subject writes
-- one row for it, however many rules it has. Lists of one length, an element for each rule.
create table current_windows (
  project_no integer not null,
  -- The subject, not its route: usage stays counted when another route with the same plan takes over.
  subject_type text not null,
  subject_id text not null,
  rule_nos integer[] not null,
  window_starts bigint[] not null,
  -- Null for a lifetime.
  window_ends bigint[] not null,
  used numeric[] not null,
  -- Frozen when the window opened.
  limit_amounts numeric[] not null,
  -- Usage at which the next crossing is to be told; null when all have been.
  next_notices numeric[] not null,
  opened_at_ms bigint[] not null,
  primary key (project_no, subject_type, subject_id)
) with (fillfactor = 50); -- A batch writes most rows, or few: the new versions fit beside the old ones.

-- Windows that a newer one of their rule has taken the place of, or that late usage has opened.
create table past_windows (
  project_no integer not null,
  subject_type text not null,
  subject_id text not null,
  rule_no integer not null,
  window_start bigint not null,
  window_end bigint,
  used numeric not null,
  limit_amount numeric not null,
  next_notice numeric,
  opened_at_ms bigint not null,
  primary key (project_no, subject_type, subject_id, rule_no, window_start)
) with (fillfactor = 90);

-- All windows, each once: for reading at leisure.
create view limit_windows as
  select c.project_no, c.subject_type, c.subject_id, w.rule_no, w.window_start, w.window_end, w.used, w.limit_amount,
    w.next_notice, w.opened_at_ms
  from current_windows c
  cross join lateral unnest(c.rule_nos, c.window_starts, c.window_ends, c.used, c.limit_amounts, c.next_notices, c.opened_at_ms)
    as w (rule_no, window_start, window_end, used, limit_amount, next_notice, opened_at_ms)
  union all
  select project_no, subject_type, subject_id, rule_no, window_start, window_end, used, limit_amount, next_notice, opened_at_ms
  from past_windows;

-- What active leases hold, per rule and subject rather than per window: a lease carries over into the next window.
create table limit_reserved (
  project_no integer not null,
  subject_type text not null,
  subject_id text not null,
  rule_no integer not null,
  reserved numeric not null check (reserved >= 0),
  primary key (project_no, subject_type, subject_id, rule_no)
);

create table budget_leases (
  tenant_id text not null,
  project_id text not null,
  id text not null,
  subject_type text not null,
  subject_id text not null,
  account_id text,
  currency text not null,
  metric text,
  amount numeric not null check (amount > 0),
  used numeric not null default 0,
  -- What is still held of the amount; 0 once the lease has ended.
  held numeric not null check (held >= 0),
  -- Rules, and whether the wallet, that hold it.
  rule_nos integer[] not null,
  holds_wallet boolean not null,
  status text not null check (status in ('active', 'closed', 'expired')),
  expires_at bigint not null,
  created_at bigint not null,
  closed_at bigint,
  primary key (project_id, id)
);
create index budget_leases_by_subject on budget_leases (project_id, subject_type, subject_id, id);
create index budget_leases_due on budget_leases (expires_at) where status = 'active';
-- Those that have ended are kept for a time.
create index budget_leases_ended on budget_leases (closed_at) where status <> 'active';
