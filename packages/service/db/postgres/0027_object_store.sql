-- The object store that this installation uses: at most one row. Its mark, an object with this id, proves that a folder
-- or a bucket is this store, and not an empty one in its place or that of another installation.
create table object_store (
  is_only boolean primary key default true check (is_only),
  id uuid not null,
  -- Where it was when it was marked, for people.
  place text not null,
  -- False until the mark is known to be there.
  is_marked boolean not null
);
