-- The smallest and the largest quantity of a charge item.
-- oldest release: 0.1.0

-- Null where no quantity was compared. compared_item_count is the number of charge items whose quantities were: where
-- it is less than item_count, others came before usage_rollup_view compared quantities. Quantities that a counter row
-- takes back stay compared, so minimum and maximum hold only where countered_item_count is 0.
ALTER TABLE usage_rollup
  ADD COLUMN IF NOT EXISTS minimum SimpleAggregateFunction(min, Nullable(Decimal(38, 18))),
  ADD COLUMN IF NOT EXISTS maximum SimpleAggregateFunction(max, Nullable(Decimal(38, 18))),
  ADD COLUMN IF NOT EXISTS compared_item_count SimpleAggregateFunction(sum, UInt64);

-- The same view as before, which now compares quantities, too. Tokens of inserts are recognized by the name of a view,
-- so a repeated insert is dropped, also if the first one met the earlier view. Two views would count an insert that is
-- made at this moment, so the view of a table that may get rows is replaced only while no projector works.
CREATE OR REPLACE MATERIALIZED VIEW usage_rollup_view TO usage_rollup AS
WITH if(empty(event.raw_only), event.dimensions,
  mapFilter((name, value) -> NOT has(event.raw_only, name), event.dimensions)) AS summed_by,
  NOT event.is_counter AND item.source != 'correction' AS is_compared
SELECT
  event.tenant_id AS tenant_id, event.project_id AS project_id, arrayJoin([60, 900, 3600]::Array(UInt16)) AS resolution,
  item.metric AS metric,
  toDateTime(intDiv(toUnixTimestamp(toStartOfMinute(event.occurred_at)), resolution) * resolution, 'UTC') AS bucket,
  item.unit AS unit, item.currency AS currency, event.subject_type AS subject_type,
  sipHash128(mapKeys(summed_by), mapValues(summed_by), event.raw_only) AS dimensions_hash,
  any(summed_by) AS dimensions, any(event.raw_only) AS raw_only, count() AS item_count,
  sum(toDecimal256(item.quantity, 18)) AS quantity, sum(toDecimal256(item.amount, 18)) AS amount,
  min(event.occurred_at) AS first_seen_at, max(event.occurred_at) AS last_seen_at,
  minOrNullIf(item.quantity, is_compared) AS minimum, maxOrNullIf(item.quantity, is_compared) AS maximum,
  countIf(is_compared) AS compared_item_count
FROM usage_events AS event
ARRAY JOIN item
GROUP BY tenant_id, project_id, metric, toStartOfMinute(event.occurred_at), unit, currency, subject_type, dimensions_hash;
