-- Backtests of a usage limit plan, next to those of rules.
-- oldest release: 0.1.0
-- Null for a backtest of rules.
alter table backtests add column usage_limit_plan_id text;
