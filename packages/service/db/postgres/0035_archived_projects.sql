-- Whether the archive has expired rows is asked once a minute. This table answers without a look at the blocks.
-- oldest release: 0.1.0

create table archived_projects (
  project_id text primary key,
  -- The first day of the project's rows in the archive, as days since 1970, or an earlier day.
  first_day integer not null
);

-- Writes only where a block has rows of an earlier day than all others: most blocks change nothing.
create function note_archived_projects() returns trigger language plpgsql as $$
begin
  insert into archived_projects as known (project_id, first_day)
  select has.project_id, min(has.first_day)
  from written cross join unnest(project_ids, first_days) as has (project_id, first_day)
  where not exists (
    select from archived_projects other where other.project_id = has.project_id and other.first_day <= has.first_day
  )
  group by 1 order by 1
  on conflict (project_id) do update set first_day = excluded.first_day where known.first_day > excluded.first_day;
  return null;
end
$$;
create trigger archived_blocks_note after insert on archived_blocks
  referencing new table as written for each statement execute function note_archived_projects();

insert into archived_projects (project_id, first_day)
select has.project_id, min(has.first_day)
from archived_blocks cross join unnest(project_ids, first_days) as has (project_id, first_day)
group by 1;
