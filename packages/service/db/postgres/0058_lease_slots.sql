-- Limits on concurrent work, of which leases take slots. The next migration checks the rules that exist.
-- oldest release: 0.1.0
alter table budget_leases
  -- The rules of which an active lease holds one each, and the subject of each of them; null for none.
  add column slot_rule_nos integer[],
  add column slot_subject_types text[],
  add column slot_subject_ids text[];
alter table limit_rules
  drop constraint limit_rules_measure_check,
  add constraint limit_rules_measure_check
    check (measure in ('amount', 'quantity', 'count', 'unique', 'max', 'concurrency')) not valid;
alter table usage_limit_plan_rules
  drop constraint usage_limit_plan_rules_measure_check,
  add constraint usage_limit_plan_rules_measure_check
    check (measure in ('amount', 'quantity', 'count', 'unique', 'max', 'concurrency')) not valid;
alter table direct_limits
  drop constraint direct_limits_measure_check,
  add constraint direct_limits_measure_check
    check (measure in ('amount', 'quantity', 'count', 'unique', 'max', 'concurrency')) not valid;
