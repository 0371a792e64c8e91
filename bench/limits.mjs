// Usage limits for the benchmark: what every event is counted against besides its wallet.

/** A plan's rules, as the API takes them: five windows for each subject, which no load here reaches the limit of. */
export const PLAN_RULES = [
  rule('spend-month', 'amount', 'month', '1000000', {
    currency: 'USD',
    action: 'block',
    notify_at: [50, 80],
  }),
  rule('spend-day', 'amount', 'day', '1000000', { currency: 'USD', action: 'notify', notify_at: [80] }),
  rule('tokens-day', 'quantity', 'day', '1000000000000', {
    selector_type: 'metric_prefix',
    selector_value: 'llm.',
  }),
  rule('output-hour', 'quantity', 'hour', '1000000000000', {
    selector_type: 'metric',
    selector_value: 'llm.output_tokens',
  }),
  rule('large-7d', 'quantity', '7d', '1000000000000', {
    dimension_key: 'model',
    dimension_value: 'aurora-large',
    notify_at: [90],
  }),
];

function rule(limitKey, measure, period, limitAmount, fields) {
  return {
    limit_key: limitKey,
    measure,
    selector_type: 'all',
    selector_value: '',
    period,
    limit_amount: limitAmount,
    action: 'notify',
    ...fields,
  };
}

/** Writes an account, the plan and a route for all subjects, or for each of `subjectIds`, into a project's database. */
export async function insertLimits({ pool }, { tenantId, projectId }, subjectIds = ['*']) {
  const of = [tenantId, projectId];
  await pool.query(
    `insert into accounts (tenant_id, project_id, id, name, created_at) values ($1, $2, $3, 'bench', 0)`,
    [...of, `acct_${projectId}`],
  );
  await pool.query(
    `insert into usage_limit_plans (tenant_id, project_id, id, name, title, current_revision, created_at, updated_at)
    values ($1, $2, 'ulp_bench', 'bench', 'Bench', 1, 0, 0)`,
    of,
  );
  await pool.query(
    `insert into usage_limit_plan_versions (tenant_id, project_id, id, plan_id, revision, title, published_at_ms, created_at,
      updated_at) values ($1, $2, 'ulpv_bench', 'ulp_bench', 1, 'Bench', 0, 0, 0)`,
    of,
  );
  for (const [position, planRule] of PLAN_RULES.entries()) await insertRule({ pool }, of, position, planRule);
  await pool.query(
    `insert into subject_routes (tenant_id, project_id, id, subject_type, subject_id, account_id, usage_limit_plan_id,
      plan_bound_at_ms, usage_limit_anchor, timezone, week_start, created_at, updated_at)
    select $1, $2, 'ra_' || id, 'user', id, $3, 'ulp_bench', 0, 0, 'Europe/Berlin', 'monday', 0, 0 from unnest($4::text[]) as id`,
    [...of, `acct_${projectId}`, subjectIds],
  );
  await pool.query('insert into limit_revisions (tenant_id, project_id, revision) values ($1, $2, 1)', of);
}

async function insertRule({ pool }, of, position, planRule) {
  const { measure, period, currency = '' } = planRule;
  const { rows } = await pool.query(
    `insert into limit_rules (tenant_id, project_id, owner_id, limit_key, period, measure, currency)
    values ($1, $2, 'ulp_bench', $3, $4, $5, $6) returning no`,
    [...of, planRule.limit_key, period, measure, currency],
  );
  await pool.query(
    `insert into usage_limit_plan_rules (tenant_id, project_id, id, plan_version_id, position, limit_key, measure,
      selector_type, selector_value, dimension_key, dimension_value, currency, period, limit_amount, action, notify_at,
      rule_no, created_at, updated_at)
    values ($1, $2, $3, 'ulpv_bench', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, 0, 0)`,
    [
      ...of,
      `ulpr_${rows[0].no}`,
      position,
      planRule.limit_key,
      measure,
      planRule.selector_type,
      planRule.selector_value,
      planRule.dimension_key,
      planRule.dimension_value,
      currency,
      period,
      planRule.limit_amount,
      planRule.action,
      planRule.notify_at ?? [],
      rows[0].no,
    ],
  );
}
