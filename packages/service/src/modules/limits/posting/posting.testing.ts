import { ManualClock } from '../../../kernel/clock.js';
import { newId } from '../../../kernel/id.js';
import { type Postgres, transaction } from '../../../platform/postgres/index.js';
import {
  createProject,
  createTestPostgres,
  type TestPostgres,
  type TestProject,
} from '../../../testing/index.js';
import { type AlertData, alertText } from '../../../testing/limit-alert-text.js';
import { createWorkerCatalog } from '../rules/index.js';
import { changeWindowLimits } from '../windows/window-limit-store.js';
import { BatchPosting, type PostingCatalog } from './batch-posting.js';
import { LEASE, type TestLease } from './lease-values.testing.js';
import { type EventPosting, PostingPlan } from './posting-plan.js';
import type { PostedFields } from './rated-usage.js';
import { placeholders, RULE, RULE_COLUMNS, ruleValues, type TestRule } from './rule-values.testing.js';
import { lockPosting } from './store.js';
import { NOW_S, ratedUsage, type TestUsage } from './usage.testing.js';

export interface TestRoute {
  readonly subjectId?: string;
  /** Null for the account of the parent. */
  readonly accountId?: string | null;
  readonly parentId?: string | null;
  readonly planId?: string;
  readonly timezone?: string;
  readonly anchorS?: number;
}

/** A project whose usage is posted batch by batch. */
export class PostingFixture {
  readonly #test: TestPostgres | undefined;
  clock = new ManualClock(NOW_S * 1_000);
  catalog = createWorkerCatalog();

  private constructor(
    readonly postgres: Postgres,
    readonly project: TestProject,
    test?: TestPostgres,
  ) {
    this.#test = test;
  }

  static async create(): Promise<PostingFixture> {
    const test = await createTestPostgres();
    return new PostingFixture(test.postgres, await createProject(test.postgres, 'ten_a', 'prj_a'), test);
  }

  /** Uses a project that the caller has created and will drop. */
  static of(postgres: Postgres, project: TestProject): PostingFixture {
    return new PostingFixture(postgres, project);
  }

  /** Restores the state after `create`. */
  async reset(): Promise<void> {
    await this.rows(
      'truncate accounts, usage_limit_plans, limit_revisions, limit_rules, current_windows, past_windows, sliding_steps, window_values, window_value_sets, limit_alerts, webhook_messages cascade',
    );
    this.catalog = createWorkerCatalog();
    this.clock = new ManualClock(NOW_S * 1_000);
  }

  async drop(): Promise<void> {
    await this.#test?.drop();
  }

  async rows(sql: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
    return (await this.postgres.pool.query(sql, [...values])).rows;
  }

  /** Posts one batch. `before` is awaited after everything is written; when it rejects, the batch is rolled back. */
  post(
    events: readonly TestUsage[],
    before: () => Promise<void> | void = () => {},
    catalog: PostingCatalog = this.catalog,
  ): Promise<PostedFields[]> {
    return transaction(this.postgres, async (tx) => {
      const posting = new BatchPosting(tx, catalog, this.clock.nowMs());
      const usage = events.map(ratedUsage);
      const prepared = await posting.prepare([{ scope: this.project, events: usage }]);
      const plan = new PostingPlan();
      const postings = usage.map((event) => prepared.of(this.project, event));
      for (const [index, event] of usage.entries()) plan.add(event, postings[index] as EventPosting);
      await posting.write(plan);
      await before();
      return postings.map(
        ({ usage: _usage, above: _above, account: _account, charge: _charge, ...fields }) => fields,
      );
    });
  }

  /** Creates or changes the route of subjects of type `user`. */
  async route({
    subjectId = '*',
    accountId = 'acct_a',
    parentId = null,
    planId,
    timezone = 'UTC',
    anchorS = 0,
  }: TestRoute = {}) {
    const { tenantId, projectId } = this.project;
    await this.rows(
      `insert into accounts (tenant_id, project_id, id, name, created_at)
      select $1, $2, $3, $3, 0 where $3::text is not null on conflict do nothing`,
      [tenantId, projectId, accountId],
    );
    await this.rows(
      `insert into subject_routes (tenant_id, project_id, id, subject_type, subject_id, account_id, usage_limit_plan_id,
        plan_bound_at_ms, usage_limit_anchor, timezone, week_start, created_at, updated_at, parent_type, parent_id)
      values ($1, $2, $3, 'user', $4, $5, $6, $7, $8, $9, 'monday', 0, 0, case when $10::text is not null then 'user' end, $10)
      on conflict (project_id, subject_type, subject_id) do update set account_id = $5, usage_limit_plan_id = $6,
        plan_bound_at_ms = $7, usage_limit_anchor = $8, timezone = $9, parent_type = excluded.parent_type,
        parent_id = $10`,
      [
        tenantId,
        projectId,
        `ra_${subjectId}`,
        subjectId,
        accountId,
        planId,
        this.clock.nowMs(),
        anchorS,
        timezone,
        parentId,
      ],
    );
    await this.#advanceRevision();
    return `ra_${subjectId}`;
  }

  /** Publishes the next revision of a plan; returns the number under which each rule counts. */
  async publish(planId: string, rules: readonly TestRule[]): Promise<number[]> {
    const { tenantId, projectId } = this.project;
    const [plan] = await this.rows(
      `insert into usage_limit_plans as p (tenant_id, project_id, id, name, title, current_revision, created_at, updated_at)
      values ($1, $2, $3, $3, $3, 1, 0, 0)
      on conflict (project_id, id) do update set current_revision = p.current_revision + 1 returning current_revision`,
      [tenantId, projectId, planId],
    );
    const versionId = newId('ulpv', this.clock);
    await this.rows(
      `insert into usage_limit_plan_versions (tenant_id, project_id, id, plan_id, revision, title, published_at_ms,
        created_at, updated_at) values ($1, $2, $3, $4, $5, $4, $6, 0, 0)`,
      [tenantId, projectId, versionId, planId, plan?.current_revision, this.clock.nowMs()],
    );
    const ruleNos: number[] = [];
    for (const [position, rule] of rules.entries()) {
      const ruleNo = await this.#ruleNo(planId, rule.key, rule);
      ruleNos.push(ruleNo);
      await this.rows(
        `insert into usage_limit_plan_rules (tenant_id, project_id, id, plan_version_id, position, ${RULE_COLUMNS})
        values ($1, $2, $3, $4, $5, ${placeholders(6)})`,
        [
          tenantId,
          projectId,
          `ulpr_${ruleNo}_${plan?.current_revision}`,
          versionId,
          position,
          ...ruleValues(rule, ruleNo),
        ],
      );
    }
    await this.#advanceRevision();
    return ruleNos;
  }

  /** Creates a direct limit of a route; returns the number under which it counts. */
  async limit(routeId: string, rule: TestRule): Promise<number> {
    const { tenantId, projectId } = this.project;
    const id = `racl_${rule.key}`;
    const ruleNo = await this.#ruleNo(id, '', rule);
    await this.rows(
      `insert into direct_limits (tenant_id, project_id, id, route_id, ${RULE_COLUMNS})
      values ($1, $2, $3, $4, ${placeholders(5)})`,
      [tenantId, projectId, id, routeId, ...ruleValues(rule, ruleNo)],
    );
    await this.rows(
      `insert into direct_limit_amounts (tenant_id, project_id, direct_limit_id, changed_at_ms, rule_no, limit_amount,
        effective) values ($1, $2, $3, $4, $5, $6, 'now')`,
      [tenantId, projectId, id, this.clock.nowMs(), ruleNo, rule.limit],
    );
    await this.#advanceRevision();
    return ruleNo;
  }

  /** Creates an active lease of user `u1`, held by rules and, if asked, by the wallet of `acct_a`. */
  async lease(fields: Partial<TestLease> = {}): Promise<string> {
    const lease = { ...LEASE, ...fields };
    const { tenantId, projectId, projectNo } = this.project;
    const id = newId('bl', this.clock);
    const { subjectId, amount, currency, metric, ruleNos, holdsWallet, status, expiresAt } = lease;
    await this.rows(
      `insert into budget_leases (tenant_id, project_id, id, subject_type, subject_id, account_id, currency, metric, amount,
        held, rule_nos, holds_wallet, status, expires_at, created_at)
      values ($1, $2, $3, 'user', $4, 'acct_a', $5, $6, $7::numeric, case when $8 = 'active' then $7::numeric else 0 end, $9,
        $10, $8, $11, 0)`,
      [tenantId, projectId, id, subjectId, currency, metric, amount, status, ruleNos, holdsWallet, expiresAt],
    );
    if (status !== 'active') return id;
    await this.rows(
      `insert into limit_reserved as r select $1, 'user', $2, no, $3 from unnest($4::integer[]) as no
      on conflict (project_no, subject_type, subject_id, rule_no) do update set reserved = r.reserved + excluded.reserved`,
      [projectNo, subjectId, amount, ruleNos],
    );
    if (!holdsWallet) return id;
    await this.rows(
      `insert into wallets as w (tenant_id, project_id, account_id, currency, mode, reserved, created_at)
      values ($1, $2, 'acct_a', $3, 'prepaid', $4, 0)
      on conflict (project_id, account_id, currency) do update set reserved = w.reserved + excluded.reserved`,
      [tenantId, projectId, currency, amount],
    );
    return id;
  }

  windows(): Promise<Record<string, unknown>[]> {
    return this.rows(
      `select subject_id, rule_no, window_start, trim_scale(used)::text as used, trim_scale(limit_amount)::text as "limit"
      from limit_windows order by 1, 2, 3`,
    );
  }

  /** Returns what each wallet is worth: its balance less what is owed. */
  wallets(): Promise<Record<string, unknown>[]> {
    return this.rows(
      `select account_id, currency, trim_scale(balance - owed)::text as worth from wallets order by 1, 2`,
    );
  }

  /** Changes the amount of a direct limit of the route of a subject now, also in open windows. */
  async changeLimit(
    subjectId: string,
    key: string,
    ruleNo: number,
    amount: string,
    notifyAt: readonly number[],
  ) {
    const { projectId, projectNo } = this.project;
    const changedAtMs = this.clock.nowMs();
    await transaction(this.postgres, async (tx) => {
      await lockPosting(tx, [projectNo]);
      const window = { projectNo, subjectType: 'user', subjectId, ruleNo, measure: 'amount' } as const;
      await changeWindowLimits(tx, { ...window, limitAmount: amount, notifyAt, changedAtMs, opensNow: true });
    });
    await this.rows(
      `insert into direct_limit_amounts select tenant_id, project_id, direct_limit_id, $1, rule_no, $2, 'now'
      from direct_limit_amounts where project_id = $3 and direct_limit_id = $4 limit 1
      on conflict (project_id, direct_limit_id, changed_at_ms) do update set limit_amount = excluded.limit_amount`,
      [changedAtMs, amount, projectId, `racl_${key}`],
    );
    await this.#advanceRevision();
  }

  /** Returns the keys of the alerts that were sent: rule, window, percentage, subject. */
  async crossings(): Promise<string[]> {
    const rows = await this.rows(`select dedupe_key from webhook_messages where dedupe_key like 'limit %'`);
    return rows.map(({ dedupe_key }) => String(dedupe_key)).sort();
  }

  /** Returns the alerts that were sent and the recoveries: event, percentage and sequence, window, subject. */
  async alerts(): Promise<string[]> {
    const rows = await this.rows(
      `select type, split_part(dedupe_key, ' ', 2) as rule_no, payload::json -> 'data' as data from webhook_messages`,
    );
    return rows
      .map(({ type, rule_no, data }) => alertText(String(type), String(rule_no), data as AlertData))
      .sort();
  }

  async #ruleNo(ownerId: string, key: string, rule: TestRule): Promise<number> {
    const { tenantId, projectId } = this.project;
    const { measure, of = '', period, currency } = { ...RULE, ...rule };
    const [row] = await this.rows(
      `insert into limit_rules (tenant_id, project_id, owner_id, limit_key, period, measure, currency, of)
      values ($1, $2, $3, $4, $5, $6, $7, $8)
      on conflict (project_id, owner_id, limit_key, period, measure, currency, of) do update set period = excluded.period
      returning no`,
      [tenantId, projectId, ownerId, key, period, measure, measure === 'amount' ? currency : '', of],
    );
    return row?.no as number;
  }

  async #advanceRevision(): Promise<void> {
    const { tenantId, projectId } = this.project;
    await this.rows(
      `insert into limit_revisions as r values ($1, $2, 1)
      on conflict (project_id) do update set revision = r.revision + 1`,
      [tenantId, projectId],
    );
  }
}
