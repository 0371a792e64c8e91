import type { LimitMeasure } from '@tollgate/contract';
import { createMetrics } from '../../../platform/metrics/index.js';
import type { SweepJob } from '../../../platform/sweep-job.js';
import { everythingAdmitted } from '../../../testing/admission.js';
import { createTestApi, type TestApi } from '../../../testing/api.js';
import { createLeaseExpiryJob } from '../leases/expiry.js';
import type { Leases } from '../leases/leases.js';
import { catalogSource } from '../rules/catalog-store.js';
import { LimitCatalog } from '../rules/index.js';
import { storedValue } from '../windows/counted-values.js';
import { createRealtimeLimits } from './realtime.js';
import { registerRealtimeLimitRoutes } from './realtime-routes.js';
import type { SubjectLimits } from './subject-limits.js';
import type { MemoryOptions } from './usage-reads.js';

/** An application with the realtime snapshot, the check and leases, without the management of limits. */
export interface TestLimits extends TestApi {
  readonly leases: Leases;
  readonly expiry: SweepJob;
  readonly usage: SubjectLimits['usage'];
  readonly url: string;
}

/** @param memory undefined to read each answer from the database */
export async function createTestLimits(memory?: MemoryOptions): Promise<TestLimits> {
  let parts: Pick<TestLimits, 'leases' | 'expiry' | 'usage'> | undefined;
  const api = await createTestApi((app, { postgres, clock }) => {
    const catalog = new LimitCatalog({ source: catalogSource, freshMs: 0 });
    const deps = { postgres, clock, metrics: createMetrics() };
    const realtime = createRealtimeLimits({
      ...deps,
      catalog,
      admission: everythingAdmitted,
      ...(memory === undefined ? {} : { memory }),
    });
    const expiry = createLeaseExpiryJob({ ...deps, log: { warn: () => {} } });
    parts = { leases: realtime.leases, expiry, usage: realtime.subjectLimits.usage };
    registerRealtimeLimitRoutes(app, realtime);
  });
  if (parts === undefined) throw new Error('the routes were not registered');
  return { ...api, ...parts, url: `/v1/projects/${api.projectId}` };
}

/** Creates a route for subjects of type `user`; its windows lie in UTC. */
export async function makeRoute(
  { postgres, tenantId, projectId }: TestLimits,
  {
    id,
    subjectId = '*',
    timezone = 'UTC',
    anchorS = 0,
    externalId = null,
    parentId = null,
  }: {
    readonly id: string;
    readonly subjectId?: string;
    readonly timezone?: string;
    readonly anchorS?: number;
    readonly externalId?: string | null;
    /** A parent of the same type; its account pays. */
    readonly parentId?: string | null;
  },
): Promise<{ readonly id: string; readonly accountId: string }> {
  const accountId = `acct_${id}`;
  await postgres.pool.query(
    'insert into accounts (tenant_id, project_id, id, name, external_id, created_at) values ($1, $2, $3, $3, $4, 0)',
    [tenantId, projectId, accountId, externalId],
  );
  await postgres.pool.query(
    `insert into subject_routes (tenant_id, project_id, id, subject_type, subject_id, account_id, usage_limit_anchor,
      timezone, week_start, created_at, updated_at, parent_type, parent_id)
    values ($1, $2, $3, 'user', $4, case when $8::text is null then $5 end, $6, $7, 'monday', 0, 0,
      case when $8::text is not null then 'user' end, $8)`,
    [tenantId, projectId, id, subjectId, accountId, anchorS, timezone, parentId],
  );
  await advanceRevision(postgres, tenantId, projectId);
  return { id, accountId };
}

/** Gives a route another parent. */
export async function moveRoute(
  { postgres, tenantId, projectId }: TestLimits,
  { id }: { readonly id: string },
  parentId: string,
): Promise<void> {
  await postgres.pool.query(
    `update subject_routes set parent_type = 'user', parent_id = $1 where project_id = $2 and id = $3`,
    [parentId, projectId, id],
  );
  await advanceRevision(postgres, tenantId, projectId);
}

export interface TestLimit {
  readonly key: string;
  readonly measure?: LimitMeasure;
  readonly of?: string;
  readonly selector?: readonly ['all' | 'metric' | 'metric_prefix', string];
  readonly dimension?: readonly [string, string];
  readonly currency?: string;
  readonly period?: string;
  readonly amount: string;
  readonly action?: 'block' | 'notify';
  readonly webhookEvent?: string;
}

/** Creates a direct limit of a route; returns the number under which it counts. */
export async function makeLimit(
  { postgres, tenantId, projectId }: TestLimits,
  route: { readonly id: string },
  limit: TestLimit,
): Promise<number> {
  const { measure = 'amount', selector = ['all', ''], period = 'month', action = 'block' } = limit;
  const currency = limit.currency ?? (measure === 'amount' ? 'USD' : '');
  const id = `racl_${limit.key}`;
  const { rows } = await postgres.pool.query<{ no: number }>(
    `insert into limit_rules (tenant_id, project_id, owner_id, limit_key, period, measure, currency, of)
    values ($1, $2, $3, '', $4, $5, $6, $7) returning no`,
    [
      tenantId,
      projectId,
      id,
      period,
      measure,
      measure === 'amount' ? (limit.currency ?? 'USD') : '',
      limit.of ?? '',
    ],
  );
  const ruleNo = rows[0]?.no as number;
  await postgres.pool.query(
    `insert into direct_limits (tenant_id, project_id, id, route_id, limit_key, measure, selector_type, selector_value,
      dimension_key, dimension_value, currency, period, limit_amount, action, webhook_event, notify_at, rule_no, created_at,
      updated_at, of)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, '{}', $16, 0, 0, $17)`,
    [
      tenantId,
      projectId,
      id,
      route.id,
      limit.key,
      measure,
      ...selector,
      limit.dimension?.[0],
      limit.dimension?.[1],
      currency,
      period,
      limit.amount,
      action,
      limit.webhookEvent,
      ruleNo,
      limit.of,
    ],
  );
  await postgres.pool.query(
    `insert into direct_limit_amounts (tenant_id, project_id, direct_limit_id, changed_at_ms, rule_no, limit_amount, effective)
    values ($1, $2, $3, 0, $4, $5, 'now')`,
    [tenantId, projectId, id, ruleNo, limit.amount],
  );
  await advanceRevision(postgres, tenantId, projectId);
  return ruleNo;
}

/** Raises a limit of a route by 10 from now on, for an hour. */
export async function makeRaise(
  { postgres, tenantId, projectId, clock }: TestLimits,
  route: { readonly id: string },
  key: string,
): Promise<void> {
  const nowMs = clock.nowMs();
  await postgres.pool.query(
    `insert into limit_raises (tenant_id, project_id, id, route_id, limit_key, amount, from_ms, until_ms, reason, created_by)
    values ($1, $2, $3, $3, $4, 10, $5, $6, 'test', 'service')`,
    [tenantId, projectId, route.id, key, nowMs, nowMs + 3_600_000],
  );
  await advanceRevision(postgres, tenantId, projectId);
}

async function advanceRevision(
  { pool }: TestApi['postgres'],
  tenantId: string,
  projectId: string,
): Promise<void> {
  await pool.query(
    `insert into limit_revisions as r values ($1, $2, 1)
    on conflict (project_id) do update set revision = r.revision + 1`,
    [tenantId, projectId],
  );
}

/** Stores what a worker would have counted in a window of user `u1`, or of another one. */
export async function setUsed(
  { postgres, projectId }: TestLimits,
  ruleNo: number,
  window: { readonly startS: number; readonly endS?: number; readonly limit: string },
  used: string,
  subjectId = 'u1',
): Promise<void> {
  await postgres.pool.query(
    `insert into past_windows (project_no, subject_type, subject_id, rule_no, window_start, used, limit_amount, opened_at_ms, window_end)
    select no, 'user', $1, $2, $3, $4, $5, 0, $7 from projects where id = $6
    on conflict (project_no, subject_type, subject_id, rule_no, window_start) do update set used = excluded.used`,
    [subjectId, ruleNo, window.startS, used, window.limit, projectId, window.endS],
  );
}

/** Stores a value that a worker would have counted in a lifetime window. */
export async function setSeen(
  { postgres, projectId }: TestLimits,
  ruleNo: number,
  value: string,
  subjectId: string,
  occurrences = 1,
): Promise<void> {
  await postgres.pool.query(
    `insert into window_values (project_no, subject_type, subject_id, rule_no, window_start, value, occurrences)
    select no, 'user', $1, $2, 0, $3, $4 from projects where id = $5`,
    [subjectId, ruleNo, storedValue(value), occurrences, projectId],
  );
}

/** Stores a wallet as the ledger does. */
export async function setWallet(
  { postgres, tenantId, projectId }: TestLimits,
  { accountId }: { readonly accountId: string },
  {
    mode = 'prepaid',
    balance,
    currency = 'USD',
  }: {
    readonly mode?: 'prepaid' | 'postpaid';
    readonly balance: string;
    readonly currency?: string;
  },
): Promise<void> {
  await postgres.pool.query(
    `insert into wallets (tenant_id, project_id, account_id, currency, mode, balance, created_at)
    values ($1, $2, $3, $4, $5, $6, 0)
    on conflict (project_id, account_id, currency) do update set mode = excluded.mode, balance = excluded.balance`,
    [tenantId, projectId, accountId, currency, mode, balance],
  );
}

/** Sums of what leases hold, as the rows of leases, rules and wallets state them. */
export async function holdings({ postgres }: Pick<TestApi, 'postgres'>) {
  const { rows: leases } = await postgres.pool.query<{ rule_no: number; held: string }>(
    `select rule_no, trim_scale(sum(held))::text as held from budget_leases, unnest(rule_nos) as rule_no
    where held > 0 group by rule_no order by rule_no`,
  );
  const { rows: reserved } = await postgres.pool.query<{ rule_no: number; held: string }>(
    `select rule_no, trim_scale(sum(reserved))::text as held from limit_reserved where reserved > 0
    group by rule_no order by rule_no`,
  );
  const { rows: sums } = await postgres.pool.query<{ of_leases: string; of_wallets: string }>(
    `select (select trim_scale(coalesce(sum(held), 0))::text from budget_leases where holds_wallet) as of_leases,
      (select trim_scale(coalesce(sum(reserved), 0))::text from wallets) as of_wallets`,
  );
  return { leases, reserved, ofWalletLeases: sums[0]?.of_leases, ofWallets: sums[0]?.of_wallets };
}
