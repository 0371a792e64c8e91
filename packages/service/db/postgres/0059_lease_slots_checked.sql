-- Reads all rules under locks that let others read and write.
-- oldest release: 0.1.0
alter table limit_rules validate constraint limit_rules_measure_check;
alter table usage_limit_plan_rules validate constraint usage_limit_plan_rules_measure_check;
alter table direct_limits validate constraint direct_limits_measure_check;
