-- Limit rules can list metrics, and values and prefixes of a dimension. The next migration checks the rules that exist.
-- oldest release: 0.1.0
alter table usage_limit_plan_rules
  add column selector_values text[],
  add column dimension_values text[],
  drop constraint usage_limit_plan_rules_selector_type_check,
  add constraint usage_limit_plan_rules_selector_type_check
    check (selector_type in ('all', 'metric', 'metrics', 'metric_prefix')) not valid;
alter table direct_limits
  add column selector_values text[],
  add column dimension_values text[],
  drop constraint direct_limits_selector_type_check,
  add constraint direct_limits_selector_type_check
    check (selector_type in ('all', 'metric', 'metrics', 'metric_prefix')) not valid;
