-- Reads all charts under a lock that lets others read and write.
-- oldest release: 0.1.0
alter table charts validate constraint charts_chart_type_check;
