-- Revisions of corrected events. Rows are never changed: a correction adds a counter row, which takes back the revision
-- that it replaces, and the row of the next revision.
-- oldest release: 0.1.0

-- Both new columns are part of the sorting key, so that each revision and its counter row stay when parts are merged.
-- A column joins the sorting key only in the statement that adds it, and without a default: a revision is therefore
-- stored as the number of corrections before it.
ALTER TABLE usage_events
  ADD COLUMN IF NOT EXISTS corrections UInt32 AFTER attempt,
  -- The row takes back the revision with the same number of corrections: its charge items have the opposite sign.
  ADD COLUMN IF NOT EXISTS is_counter Bool AFTER corrections,
  MODIFY ORDER BY (tenant_id, project_id, occurred_at, raw_event_id, corrections, is_counter);

-- The correction that wrote the row; empty for revision 1.
ALTER TABLE usage_events ADD COLUMN IF NOT EXISTS correction_id String AFTER is_counter;

-- A voided event has no charge items.
ALTER TABLE usage_events
  MODIFY COLUMN IF EXISTS status Enum8('processed' = 1, 'failed' = 2, 'voided' = 3);

-- The number of charge items that were taken back. Where there are any, first_seen_at and last_seen_at may be times of
-- charge items that no longer apply.
ALTER TABLE usage_rollup ADD COLUMN IF NOT EXISTS countered_item_count SimpleAggregateFunction(sum, UInt64);

-- Adds the counter rows to the rollup a second time, with a count alone: usage_rollup_view counts each of their charge
-- items as one more, and this view as two less, so together they are one less. Sums of UInt64 wrap around, which is
-- exact. A view of its own, because inserts that are repeated are recognized by the view as it was created.
CREATE MATERIALIZED VIEW IF NOT EXISTS usage_counter_view TO usage_rollup AS
WITH if(empty(event.raw_only), event.dimensions,
  mapFilter((name, value) -> NOT has(event.raw_only, name), event.dimensions)) AS summed_by
SELECT
  event.tenant_id AS tenant_id, event.project_id AS project_id, arrayJoin([60, 900, 3600]::Array(UInt16)) AS resolution,
  item.metric AS metric,
  toDateTime(intDiv(toUnixTimestamp(toStartOfMinute(event.occurred_at)), resolution) * resolution, 'UTC') AS bucket,
  item.unit AS unit, item.currency AS currency, event.subject_type AS subject_type,
  sipHash128(mapKeys(summed_by), mapValues(summed_by), event.raw_only) AS dimensions_hash,
  any(summed_by) AS dimensions, any(event.raw_only) AS raw_only, toUInt64(-2 * toInt64(count())) AS item_count,
  toDecimal256(0, 18) AS quantity, toDecimal256(0, 18) AS amount,
  min(event.occurred_at) AS first_seen_at, max(event.occurred_at) AS last_seen_at, count() AS countered_item_count
FROM usage_events AS event
ARRAY JOIN item
WHERE event.is_counter
GROUP BY tenant_id, project_id, metric, toStartOfMinute(event.occurred_at), unit, currency, subject_type, dimensions_hash;
