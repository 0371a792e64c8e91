-- A chart can be of all metrics, and can add them up; those that there are keep theirs apart.
alter table charts alter column metrics drop not null;
alter table charts add column split_by text[] not null default '{metric}';
alter table charts alter column split_by drop default;
