-- Usage history and analysis. Everything here can be rebuilt from, and is checked against, PostgreSQL.

-- One row per rated event, its charge items nested. A reprocessed event replaces its failed row (greater attempt);
-- a failed row has no items, so sums over items need no FINAL.
CREATE TABLE IF NOT EXISTS usage_events (
  tenant_id LowCardinality(String),
  project_id LowCardinality(String),
  raw_event_id FixedString(16),
  occurred_at DateTime('UTC'),
  attempt UInt16,
  received_at DateTime64(3, 'UTC'),
  processed_at DateTime64(3, 'UTC'),
  status Enum8('processed' = 1, 'failed' = 2),
  posting Enum8('none' = 0, 'posted' = 1, 'unpriced' = 2, 'unrouted' = 3),
  source String,
  external_event_id String,
  idempotency_key String,
  subject_type LowCardinality(String),
  subject_id String,
  -- The pair came with the event: rated anew, its extractor's paths are not read.
  subject_is_sent Bool,
  account_id String,
  budget_lease_id String,
  -- What the lease was when the event was rated.
  lease_status Enum8('none' = 0, 'applied' = 1, 'closed' = 2, 'expired' = 3, 'unknown' = 4),
  extractor_rule_set_id LowCardinality(String),
  extractor_version UInt32,
  dimensions Map(LowCardinality(String), String),
  -- Names of those dimensions that the rollup goes without, because they have too many values to be summed by.
  raw_only Array(String),
  failure_code LowCardinality(String),
  failure_message String,
  failure_path String,
  raw_json String CODEC(ZSTD(1)),
  metadata String CODEC(ZSTD(1)),
  x_billing String CODEC(ZSTD(1)),
  -- Plain strings: a dictionary per array costs as much at insert as all the other columns together.
  item Nested (
    extractor_name String,
    metric String,
    unit String,
    currency String,
    quantity Decimal(38, 18),
    unit_price Nullable(Decimal(38, 18)),
    amount Decimal(38, 18),
    -- What a discount hint has taken off the amount.
    discount Decimal(38, 18),
    source Enum8('extractor' = 1, 'x_billing' = 2),
    pricing_source Enum8('hint' = 1, 'extractor' = 2, 'pricing_rule_set' = 3, 'unpriced' = 4),
    rule_set_id String,
    rule_set_version UInt32,
    rule_name String,
    -- Posted the amount; empty where nothing did.
    ledger_transaction_id String
  ),
  -- The id of a ledger transaction tells when its batch was rated: its events lie in few granules.
  INDEX processed_at_range processed_at TYPE minmax GRANULARITY 1,
  -- Of 10,000 subjects that are all active, one is in every fifth granule; of more, in fewer.
  INDEX subject_bloom subject_id TYPE bloom_filter(0.025) GRANULARITY 1
) ENGINE = ReplacingMergeTree(attempt)
PARTITION BY toYYYYMM(occurred_at)
ORDER BY (tenant_id, project_id, occurred_at, raw_event_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
  min_rows_to_fsync_after_merge = 1,
  -- The events of one subject are few and everywhere: fewer rows are read around each.
  index_granularity = 2048,
  -- And fewer bytes are unpacked: compressed blocks of about one granule, not of four.
  min_compress_block_size = 16384,
  -- More parts wait for a merge, and each row is rewritten less often.
  merge_selector_base = 10,
  -- A month to which nothing was added for a day becomes one part: a chart over it opens one file, not ten.
  min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1,
  -- Expired rows are deleted while merges go on, also where few of these may run at once.
  number_of_free_entries_in_pool_to_execute_mutation = 1,
  -- A batch of some 20 MB is one file, and not a hundred, until it is merged into something larger.
  min_bytes_for_wide_part = 134217728;

-- Sums per minute, quarter of an hour and hour, in one table: its one view and its one part per insert cost half of what two do.
-- Sums are 256 bits wide: no number of 38-digit values that fits a table can overflow them.
CREATE TABLE IF NOT EXISTS usage_rollup (
  tenant_id LowCardinality(String),
  project_id LowCardinality(String),
  -- Length of the bucket in seconds, 60, 900 or 3600: every item is counted once in each. Sums over all count it thrice.
  resolution UInt16,
  metric LowCardinality(String),
  bucket DateTime('UTC'),
  unit LowCardinality(String),
  currency LowCardinality(String),
  subject_type LowCardinality(String),
  -- 128-bit hash of the dimensions and of what was left out of them, which cannot be a sorting key themselves.
  dimensions_hash FixedString(16),
  -- any() accepts no LowCardinality inside the map.
  dimensions SimpleAggregateFunction(any, Map(String, String)),
  -- Dimensions that the events of this row have and that are not summed by: only the events tell their values.
  raw_only SimpleAggregateFunction(any, Array(String)),
  item_count SimpleAggregateFunction(sum, UInt64),
  quantity SimpleAggregateFunction(sum, Decimal(76, 18)),
  amount SimpleAggregateFunction(sum, Decimal(76, 18)),
  first_seen_at SimpleAggregateFunction(min, DateTime('UTC')),
  last_seen_at SimpleAggregateFunction(max, DateTime('UTC'))
) ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(bucket)
ORDER BY (tenant_id, project_id, resolution, metric, bucket, unit, currency, subject_type, dimensions_hash)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
  min_rows_to_fsync_after_merge = 1, merge_selector_base = 10,
  min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1,
  number_of_free_entries_in_pool_to_execute_mutation = 1;

-- Items are summed per minute; arrayJoin then repeats each sum, not each item, for all resolutions.
-- Columns are qualified, because an output alias of the same name would otherwise be taken for them.
CREATE MATERIALIZED VIEW IF NOT EXISTS usage_rollup_view TO usage_rollup AS
WITH if(empty(event.raw_only), event.dimensions,
  mapFilter((name, value) -> NOT has(event.raw_only, name), event.dimensions)) AS summed_by
SELECT
  event.tenant_id AS tenant_id, event.project_id AS project_id, arrayJoin([60, 900, 3600]::Array(UInt16)) AS resolution,
  item.metric AS metric,
  toDateTime(intDiv(toUnixTimestamp(toStartOfMinute(event.occurred_at)), resolution) * resolution, 'UTC') AS bucket,
  item.unit AS unit, item.currency AS currency, event.subject_type AS subject_type,
  sipHash128(mapKeys(summed_by), mapValues(summed_by), event.raw_only) AS dimensions_hash,
  any(summed_by) AS dimensions, any(event.raw_only) AS raw_only, count() AS item_count,
  sum(toDecimal256(item.quantity, 18)) AS quantity, sum(toDecimal256(item.amount, 18)) AS amount,
  min(event.occurred_at) AS first_seen_at, max(event.occurred_at) AS last_seen_at
FROM usage_events AS event
ARRAY JOIN item
GROUP BY tenant_id, project_id, metric, toStartOfMinute(event.occurred_at), unit, currency, subject_type, dimensions_hash;
