-- The directory of cells: which cell has which tenant. It has neither usage nor secrets.

create table cells (
  name text primary key,
  -- The cell numbers its projects and limit rules in a range of its own, from number × 16,777,216 + 1.
  number integer not null unique check (number between 0 and 127),
  -- URL of the cell's API, to which other cells forward requests.
  url text not null,
  status text not null default 'active' check (status in ('active', 'draining')),
  -- Events per second that the cell can carry.
  capacity bigint not null check (capacity > 0),
  -- The last report of the cell: events processed in all, and events per second since the previous report.
  events_total bigint not null default 0,
  events_per_second double precision not null default 0,
  reported_at timestamptz
);

create table tenants (
  tenant_id text primary key,
  -- The cell that has the tenant.
  cell text not null references cells (name),
  -- active: the cell serves the tenant. moving: it still does, while a copy is made. frozen: no other cell forwards
  -- requests of the tenant, because its cell changes.
  state text not null default 'active' check (state in ('active', 'moving', 'frozen')),
  -- The cell to which the tenant is being moved.
  to_cell text references cells (name) check (to_cell <> cell),
  -- The cell that a switched tenant comes from, until its new cell serves it.
  from_cell text references cells (name) check (from_cell <> cell),
  -- Grows with every change of the row.
  version bigint not null default 1,
  check (case state
    when 'active' then to_cell is null and from_cell is null
    when 'moving' then to_cell is not null and from_cell is null
    else (to_cell is null) <> (from_cell is null)
  end)
);
create index tenants_by_cell on tenants (cell, tenant_id);
create index tenants_by_target on tenants (to_cell) where to_cell is not null;

-- Addresses, by which a request names its tenant: the id of the tenant or of a project, or the SHA-256 of an API key in hex.
create table addresses (
  address text primary key,
  tenant_id text not null references tenants (tenant_id)
);
create index addresses_by_tenant on addresses (tenant_id);
