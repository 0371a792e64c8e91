-- What a correction leaves of the amount of a charge item whose total it changed: an item of quantity 0, which is an
-- amount and nothing else.
-- oldest release: 0.1.0
ALTER TABLE usage_events
  MODIFY COLUMN IF EXISTS `item.source` Array(Enum8('extractor' = 1, 'x_billing' = 2, 'correction' = 3));

-- Adds these items to the rollup once more, with a count alone. The other views count 1 for each, and -1 where a counter
-- row takes it back; this one counts the opposite, so together they count nothing. A view of its own, because inserts
-- that are repeated are recognized by the view as it was created.
CREATE MATERIALIZED VIEW IF NOT EXISTS usage_correction_view TO usage_rollup AS
WITH if(empty(event.raw_only), event.dimensions,
  mapFilter((name, value) -> NOT has(event.raw_only, name), event.dimensions)) AS summed_by
SELECT
  event.tenant_id AS tenant_id, event.project_id AS project_id, arrayJoin([60, 900, 3600]::Array(UInt16)) AS resolution,
  item.metric AS metric,
  toDateTime(intDiv(toUnixTimestamp(toStartOfMinute(event.occurred_at)), resolution) * resolution, 'UTC') AS bucket,
  item.unit AS unit, item.currency AS currency, event.subject_type AS subject_type,
  sipHash128(mapKeys(summed_by), mapValues(summed_by), event.raw_only) AS dimensions_hash,
  any(summed_by) AS dimensions, any(event.raw_only) AS raw_only,
  toUInt64(toInt64(countIf(event.is_counter)) - toInt64(countIf(NOT event.is_counter))) AS item_count,
  toDecimal256(0, 18) AS quantity, toDecimal256(0, 18) AS amount,
  min(event.occurred_at) AS first_seen_at, max(event.occurred_at) AS last_seen_at, toUInt64(0) AS countered_item_count
FROM usage_events AS event
ARRAY JOIN item
WHERE item.source = 'correction'
GROUP BY tenant_id, project_id, metric, toStartOfMinute(event.occurred_at), unit, currency, subject_type, dimensions_hash;
