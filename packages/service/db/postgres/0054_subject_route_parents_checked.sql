-- Reads all routes under a lock that lets others read and write.
-- oldest release: 0.1.0
alter table subject_routes validate constraint subject_routes_parent_check;
alter table subject_routes validate constraint subject_routes_account_check;
