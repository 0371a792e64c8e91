-- Costs of charge items, by cost rules. Charge items that are stored without a cost keep none.
-- oldest release: 0.1.0

-- The currency is empty where a charge item has no cost. The defaults give rows of blocks that were written before lists
-- of the right length.
ALTER TABLE usage_events
  ADD COLUMN IF NOT EXISTS `item.cost_amount` Array(Decimal(38, 18))
    DEFAULT arrayMap(metric -> toDecimal128(0, 18), `item.metric`),
  ADD COLUMN IF NOT EXISTS `item.cost_currency` Array(String) DEFAULT arrayMap(metric -> '', `item.metric`),
  ADD COLUMN IF NOT EXISTS `item.cost_rule_set_id` Array(String) DEFAULT arrayMap(metric -> '', `item.metric`),
  ADD COLUMN IF NOT EXISTS `item.cost_rule_set_version` Array(UInt32)
    DEFAULT arrayMap(metric -> toUInt32(0), `item.metric`),
  ADD COLUMN IF NOT EXISTS `item.cost_rule_name` Array(String) DEFAULT arrayMap(metric -> '', `item.metric`);

-- The same for the column that the migration before added.
ALTER TABLE usage_events MODIFY COLUMN IF EXISTS `item.cumulative` Array(String)
  DEFAULT arrayMap(metric -> '', `item.metric`);

-- Costs in the currency of the row, and the number of charge items that have one. A cost in another currency than the
-- price is in a row of its own, which counts no charge items.
ALTER TABLE usage_rollup
  ADD COLUMN IF NOT EXISTS cost SimpleAggregateFunction(sum, Decimal(76, 18)),
  ADD COLUMN IF NOT EXISTS cost_count SimpleAggregateFunction(sum, UInt64);

-- A view of its own, because inserts that are repeated are recognized by each view as it was created. It adds nothing
-- for charge items without a cost. Sums of UInt64 wrap around, which is exact: a counter row counts −1.
CREATE MATERIALIZED VIEW IF NOT EXISTS usage_cost_view TO usage_rollup AS
WITH if(empty(event.raw_only), event.dimensions,
  mapFilter((name, value) -> NOT has(event.raw_only, name), event.dimensions)) AS summed_by
SELECT
  event.tenant_id AS tenant_id, event.project_id AS project_id, arrayJoin([60, 900, 3600]::Array(UInt16)) AS resolution,
  item.metric AS metric,
  toDateTime(intDiv(toUnixTimestamp(toStartOfMinute(event.occurred_at)), resolution) * resolution, 'UTC') AS bucket,
  item.unit AS unit, item.cost_currency AS currency, event.subject_type AS subject_type,
  sipHash128(mapKeys(summed_by), mapValues(summed_by), event.raw_only) AS dimensions_hash,
  any(summed_by) AS dimensions, any(event.raw_only) AS raw_only, toUInt64(0) AS item_count,
  toDecimal256(0, 18) AS quantity, toDecimal256(0, 18) AS amount,
  min(event.occurred_at) AS first_seen_at, max(event.occurred_at) AS last_seen_at,
  sum(toDecimal256(item.cost_amount, 18)) AS cost, toUInt64(sum(if(event.is_counter, -1, 1))) AS cost_count
FROM usage_events AS event
ARRAY JOIN item
WHERE item.cost_currency != ''
GROUP BY tenant_id, project_id, metric, toStartOfMinute(event.occurred_at), unit, currency, subject_type, dimensions_hash;
