-- The totals of a counter, as JSON text, that set the amount of a charge item; empty for all others.
-- oldest release: 0.1.0
ALTER TABLE usage_events ADD COLUMN IF NOT EXISTS `item.cumulative` Array(String) AFTER `item.rule_name`;
