-- The subjects above that of an event at which its usage counts: its parent, the parent of that, and so on.
-- oldest release: 0.1.0
ALTER TABLE usage_events
  ADD COLUMN IF NOT EXISTS `parent.type` Array(LowCardinality(String)),
  ADD COLUMN IF NOT EXISTS `parent.id` Array(String) DEFAULT arrayMap(type -> '', `parent.type`);
