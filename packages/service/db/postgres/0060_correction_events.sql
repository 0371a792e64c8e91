-- Find the corrections of an event: those that name it, and the parts that contain it. The ids of a part ascend, so the
-- first and the last one tell which parts can contain an event; they also find the parts whose history was deleted.
-- oldest release: 0.1.0
-- no transaction
create index concurrently if not exists usage_corrections_by_event
  on usage_corrections (project_id, raw_event_id) where raw_event_id is not null;
create index concurrently if not exists usage_correction_parts_by_events
  on usage_correction_parts (project_id, (raw_event_ids[cardinality(raw_event_ids)]), (raw_event_ids[1]));
