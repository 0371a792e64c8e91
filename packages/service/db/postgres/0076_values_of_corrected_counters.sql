-- A plan notices whatever other corrections have changed in the periods of its counters.
-- oldest release: 0.1.0

-- How often a part of a correction has changed a period that keeps values. New usage always changes the number of charge
-- items; a correction can leave it, the total and the amount as they are, and change the values below the greatest one.
alter table usage_counters add column correction_count bigint not null default 0;
-- The same as the next part expects it; null in plans of former releases, which did not count.
alter table usage_correction_counters add column correction_count bigint;
