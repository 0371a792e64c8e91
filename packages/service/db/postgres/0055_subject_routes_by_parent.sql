-- Finds the routes below a subject.
-- oldest release: 0.1.0
-- no transaction
create index concurrently if not exists subject_routes_by_parent
  on subject_routes (project_id, parent_type, parent_id) where parent_type is not null;
