import {
  BACKTEST_EVENTS_MAX,
  LIMIT_BACKTEST_DAYS_MAX,
  type LimitBacktest,
  type LimitBacktestRequest,
  type LimitBacktestSummary,
} from '@tollgate/contract';
import { DAY_S } from '@tollgate/timezone';
import { invalidRequest } from '../../kernel/errors.js';
import type { ListPage, Page } from '../../kernel/page.js';
import type { ProjectRef, ProjectScope } from '../../kernel/scope.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { type Postgres, ProjectDb } from '../../platform/postgres/index.js';
import {
  type CandidateSubjects,
  EVERY_SUBJECT,
  readPlanSubjects,
  readTestedPlan,
  type TestedPlan,
  TestedSubjects,
  testedRules,
} from '../limits/index.js';
import { ProjectHistory, type UsageHistory } from '../storage/index.js';
import { countPastUsage, type NamedSubject } from '../usage/index.js';
import { type BacktestJobs, backtestState } from './backtest-jobs.js';
import type { ListedBacktest, StoredBacktest } from './backtest-store.js';
import { type CountLimits, countedSelection, type LimitBacktestFindings } from './limit-counting.js';

export interface LimitBacktestDeps {
  readonly jobs: BacktestJobs;
  readonly postgres: Postgres;
  readonly clickhouse: Pick<ClickHouse, 'query'>;
  readonly countLimits: CountLimits;
  readonly history: UsageHistory;
}

/** The request as it is stored, with the revision that is tested. */
interface StoredRequest {
  readonly revision: number;
  readonly request: LimitBacktestRequest;
}

/** Backtests of usage limit plans. */
export class LimitBacktests {
  readonly #deps: LimitBacktestDeps;

  constructor(deps: LimitBacktestDeps) {
    this.#deps = deps;
  }

  /**
   * Starts a backtest of the plan's draft or, without one, of its newest published revision, as it is now.
   *
   * @param planId of the plan or of any of its versions
   * @throws DomainError `not_found`; `invalid_request` naming the field; as `BacktestJobs.begin` does
   */
  async start(project: ProjectRef, planId: string, request: LimitBacktestRequest): Promise<{ id: string }> {
    const { postgres, clickhouse, history, countLimits, jobs } = this.#deps;
    const { from, to } = request;
    checkRange(request);
    const plan = await readTestedPlan(postgres, project, planId);
    const named = request.subjects?.map(({ subject_type: type, subject_id: id }) => ({ type, id }));
    const candidates =
      named === undefined
        ? await readPlanSubjects(new ProjectDb(postgres.db, project), plan.planId)
        : await this.#checkedSubjects(project, plan, named);
    const scope = await history.scopeOf(project);
    const countsAnyPlan = named !== undefined;
    const work = { project, scope, plan, from, to, candidates, countsAnyPlan };
    const stored: StoredRequest = { revision: plan.revision, request };
    const { id } = await jobs.begin({
      owner: project,
      planId: plan.planId,
      request: stored,
      measure: () =>
        countPastUsage(
          new ProjectHistory(clickhouse, scope),
          countedSelection(work).selection,
          BACKTEST_EVENTS_MAX,
        ),
      run: async (signal, onProgress) => {
        const result = await countLimits(work, signal, onProgress);
        return { result, eventsDone: result.event_count, eventsTotal: result.event_count };
      },
    });
    return { id };
  }

  /**
   * @param planId as `start` takes it
   * @throws DomainError `not_found`
   */
  async read(owner: ProjectScope, planId: string, id: string): Promise<LimitBacktest> {
    const plan = await readTestedPlan(this.#deps.postgres, owner, planId);
    return toLimitBacktest(plan, await this.#deps.jobs.read(owner, { id, planId: plan.planId }));
  }

  /**
   * Returns the backtests of a plan, newest first.
   *
   * @param planId as `start` takes it
   * @throws DomainError `not_found`
   */
  async list(owner: ProjectScope, planId: string, page: Page): Promise<ListPage<LimitBacktestSummary>> {
    const plan = await readTestedPlan(this.#deps.postgres, owner, planId);
    const { items, totalCount } = await this.#deps.jobs.list(owner, plan.planId, page);
    return { items: items.map((row) => toSummary(plan, row)), totalCount };
  }

  /**
   * Cancels a running backtest; one that has ended stays as it is.
   *
   * @param planId as `start` takes it
   * @throws DomainError `not_found`
   */
  async cancel(owner: ProjectScope, planId: string, id: string): Promise<LimitBacktest> {
    const plan = await readTestedPlan(this.#deps.postgres, owner, planId);
    return toLimitBacktest(plan, await this.#deps.jobs.cancel(owner, { id, planId: plan.planId }));
  }

  /** @throws DomainError `invalid_request` naming a subject without a route, which has no timezone and no anchor */
  async #checkedSubjects(
    project: ProjectRef,
    plan: TestedPlan,
    named: readonly NamedSubject[],
  ): Promise<CandidateSubjects> {
    const { postgres } = this.#deps;
    const candidates = { types: [...new Set(named.map(({ type }) => type))], subjects: named };
    const subjects = new TestedSubjects({
      ...{ postgres, scope: project, planId: plan.planId, from: 0 },
      ...{ rules: testedRules({ ...plan, rules: [] }), candidates, countsAnyPlan: true },
    });
    await subjects.meet(named);
    for (const [index, subject] of named.entries()) {
      const path = `subjects[${index}]`;
      if (subject.id === EVERY_SUBJECT) {
        throw invalidRequest(`${path}.subject_id`, 'expected the id of one subject, and not *');
      }
      if (subjects.of(subject) === undefined) {
        throw invalidRequest(path, `expected a subject with a route: ${subject.type} ${subject.id} has none`);
      }
    }
    return candidates;
  }
}

function toSummary(
  { planId }: TestedPlan,
  row: ListedBacktest & Pick<StoredBacktest, 'request'>,
): LimitBacktestSummary {
  const { revision, request } = row.request as StoredRequest;
  return { ...backtestState(row), usage_limit_plan_id: planId, revision, request };
}

function toLimitBacktest(plan: TestedPlan, row: StoredBacktest): LimitBacktest {
  const findings = row.result as LimitBacktestFindings | null;
  return {
    ...toSummary(plan, row),
    results: findings?.results ?? [],
    truncated: findings?.truncated ?? false,
    counted_until: findings?.counted_until ?? null,
  };
}

function checkRange({ from, to }: LimitBacktestRequest): void {
  if (to <= from) throw invalidRequest('to', 'must be after from');
  if (to - from > LIMIT_BACKTEST_DAYS_MAX * DAY_S) {
    throw invalidRequest('to', `expected at most ${LIMIT_BACKTEST_DAYS_MAX} days after from`);
  }
}
