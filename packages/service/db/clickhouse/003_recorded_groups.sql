-- The greatest number of a group of rows that was inserted, or was about to be, for each history. PostgreSQL numbers the
-- groups, so both together tell whether one of the two stores was replaced or restored to an earlier time.
CREATE TABLE IF NOT EXISTS recorded_groups (
  history_id UUID,
  group_no SimpleAggregateFunction(max, UInt64)
) ENGINE = AggregatingMergeTree ORDER BY history_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;
