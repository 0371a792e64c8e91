-- A batch need not read counters that it knows, and writes most rows of a busy project.
-- oldest release: 0.1.0

-- The state of all counters of a project: every transaction that changes one of them stores a new random id.
create table usage_counter_states (
  tenant_id text not null,
  project_id text primary key,
  state_id uuid not null
) with (fillfactor = 50);

-- The new versions of rows fit beside the old ones, so that indexes stay as they are.
alter table usage_counters set (fillfactor = 50);
