-- One view sums charge items, where four did. All that an insert changes in a month of the rollup appears at once, and
-- an insert costs less.
-- oldest release: 0.1.0

-- Charge items of counter rows lower item_count by one and raise countered_item_count. What is left of the amount of a
-- charge item after a correction is an amount, and counts nothing.
-- A cost is in the row of its own currency. Where that differs from the currency of the price, the sums are repeated
-- in a second row that has the cost alone.
-- An insert that was interrupted is repeated by the views that it was begun with. So a table that may have rows keeps
-- the former views until no projector works and no insert is unfinished. Then this view is replaced, and the others are
-- dropped.
CREATE OR REPLACE MATERIALIZED VIEW usage_rollup_view TO usage_rollup AS
WITH if(empty(event.raw_only), event.dimensions,
  mapFilter((name, value) -> NOT has(event.raw_only, name), event.dimensions)) AS summed_by,
  if(event.is_counter, -1, 1) AS sign, item.source != 'correction' AS is_counted,
  is_counted AND NOT event.is_counter AS is_compared,
  arrayJoin(if(item.cost_currency IN ('', item.currency), [false], [false, true])) AS is_cost_alone,
  item.cost_currency != '' AND item.cost_currency = currency AS has_cost
SELECT
  event.tenant_id AS tenant_id, event.project_id AS project_id, arrayJoin([60, 900, 3600]::Array(UInt16)) AS resolution,
  item.metric AS metric,
  toDateTime(intDiv(toUnixTimestamp(toStartOfMinute(event.occurred_at)), resolution) * resolution, 'UTC') AS bucket,
  item.unit AS unit, if(is_cost_alone, item.cost_currency, item.currency) AS currency,
  event.subject_type AS subject_type,
  sipHash128(mapKeys(summed_by), mapValues(summed_by), event.raw_only) AS dimensions_hash,
  any(summed_by) AS dimensions, any(event.raw_only) AS raw_only,
  if(is_cost_alone, 0, toUInt64(sumIf(sign, is_counted))) AS item_count,
  if(is_cost_alone, 0, countIf(event.is_counter)) AS countered_item_count,
  if(is_cost_alone, toDecimal256(0, 18), sum(toDecimal256(item.quantity, 18))) AS quantity,
  if(is_cost_alone, toDecimal256(0, 18), sum(toDecimal256(item.amount, 18))) AS amount,
  if(has_cost, sum(toDecimal256(item.cost_amount, 18)), toDecimal256(0, 18)) AS cost,
  if(has_cost, toUInt64(sum(sign)), 0) AS cost_count,
  if(is_cost_alone, NULL, minOrNullIf(item.quantity, is_compared)) AS minimum,
  if(is_cost_alone, NULL, maxOrNullIf(item.quantity, is_compared)) AS maximum,
  if(is_cost_alone, 0, countIf(is_compared)) AS compared_item_count,
  min(event.occurred_at) AS first_seen_at, max(event.occurred_at) AS last_seen_at
FROM usage_events AS event
ARRAY JOIN item
GROUP BY tenant_id, project_id, metric, toStartOfMinute(event.occurred_at), unit, item.currency, item.cost_currency,
  subject_type, dimensions_hash;

DROP VIEW IF EXISTS usage_counter_view SYNC;
DROP VIEW IF EXISTS usage_cost_view SYNC;
DROP VIEW IF EXISTS usage_correction_view SYNC;
