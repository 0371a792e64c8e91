-- Whether a correction has written the rows of a batch. Such batches may wait for each other, to be inserted into
-- ClickHouse together.
-- oldest release: 0.1.0
alter table usage_batches add column is_correction boolean not null default false;
