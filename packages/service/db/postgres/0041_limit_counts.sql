-- Limits can count charge items. The next migration checks the rules that exist.
-- oldest release: 0.1.0
alter table usage_limit_plan_rules
  drop constraint usage_limit_plan_rules_measure_check,
  add constraint usage_limit_plan_rules_measure_check check (measure in ('amount', 'quantity', 'count')) not valid;
alter table direct_limits
  drop constraint direct_limits_measure_check,
  add constraint direct_limits_measure_check check (measure in ('amount', 'quantity', 'count')) not valid;
alter table limit_rules
  drop constraint limit_rules_measure_check,
  add constraint limit_rules_measure_check check (measure in ('amount', 'quantity', 'count')) not valid;
