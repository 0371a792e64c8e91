-- Find whether a rule of a project sends an event of some name, without reading all its rules.
create index usage_limit_plan_rules_by_webhook_event on usage_limit_plan_rules (project_id, webhook_event)
  where webhook_event is not null;
create index direct_limits_by_webhook_event on direct_limits (project_id, webhook_event)
  where webhook_event is not null;
