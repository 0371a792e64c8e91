-- Which keys transactions have changed, for processes that keep what they have read about a key.
-- oldest release: 0.1.0
create table key_changes (
  -- The transaction that wrote the row: snapshots tell whether it was committed between them.
  xid xid8 not null default pg_current_xact_id(),
  place bigint generated always as identity,
  -- Numbers of the keys; null for all keys.
  keys integer[],
  primary key (xid, place)
);
