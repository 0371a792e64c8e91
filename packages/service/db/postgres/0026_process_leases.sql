-- A process takes part in a kind of work while it renews its row.
create table lease_members (
  owner uuid not null,
  kind text not null check (length(kind) between 1 and 40),
  -- The order in which members joined: the first get the numbers that cannot be shared out evenly.
  place bigint generated always as identity,
  -- Identifies the process on its machine; null where the system does not show it.
  process text,
  -- By the clock of this database.
  expires_at_ms bigint not null,
  primary key (kind, owner)
);

-- The numbers of a kind of work, such as shards, and the process that may work on each. A lease lasts as long as the
-- membership of its owner.
create table process_leases (
  kind text not null,
  number integer not null check (number between 0 and 9999),
  -- Null while nobody has it.
  owner uuid,
  -- Grows whenever the number gets an owner, so that an earlier owner can be distinguished from the present one.
  epoch bigint not null default 0,
  primary key (kind, number)
);
