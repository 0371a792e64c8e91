import type { RealtimeCheck, RealtimeLimits, SnapshotLevels } from '@tollgate/contract';
import { type Clock, unixSeconds } from '../../../kernel/clock.js';
import { ONE_STORED } from '../../../kernel/decimal.js';
import { windowContains } from '../../../kernel/period.js';
import type { ProjectRef } from '../../../kernel/scope.js';
import type { Postgres } from '../../../platform/postgres/index.js';
import { type Amount, amountText, type WalletKey } from '../../ledger/index.js';
import type { LimitCatalog } from '../rules/catalog.js';
import {
  type CompiledRoute,
  type LimitedSubject,
  levelsOf,
  type SubjectLevel,
} from '../rules/route-rules.js';
import type { CompiledRule } from '../rules/rule.js';
import { readDenials } from '../settings/store.js';
import type { MeasuredQueue } from './group-metrics.js';
import { answered, Groups, TOGETHER } from './groups.js';
import {
  hasRoomFor,
  type LimitStatus,
  limitStatusesOf,
  noRoute,
  openRules,
  type RuleAtLevel,
  toRealtimeLimit,
} from './limit-status.js';
import type { UsageRead } from './limit-status-store.js';
import { UsageReads, type UsageReadsDeps } from './usage-reads.js';

export interface SubjectLimitsDeps extends UsageReadsDeps {
  readonly postgres: Pick<Postgres, 'db' | 'pool'>;
  readonly catalog: Pick<LimitCatalog, 'read'>;
  readonly clock: Clock;
}

/** Usage that is asked about before it happens. */
export interface ProposedUsage {
  readonly metric: string | undefined;
  /** By name, as text. */
  readonly dimensions: ReadonlyMap<string, string>;
  /** Not negative; 0 asks whether any more usage fits at all. */
  readonly quantity: Amount;
  /** In `currency`; not negative, as `quantity`. */
  readonly amount: Amount;
  /** Undefined for amounts of every currency. */
  readonly currency: string | undefined;
}

/** The current limit status of subjects. */
export class SubjectLimits {
  readonly #deps: SubjectLimitsDeps;
  readonly #usage: UsageReads;
  readonly #denials: Groups<ProjectRef, boolean>;

  constructor(deps: SubjectLimitsDeps) {
    this.#deps = deps;
    const { postgres } = deps;
    this.#usage = new UsageReads(deps);
    this.#denials = new Groups(async (projects) => answered(await readDenials(postgres.db, projects)));
  }

  /** The queues of reads that wait: for limits and wallets, and for settings. */
  get queues(): Readonly<Record<'limits' | 'settings', MeasuredQueue>> {
    return { limits: this.#usage.queue, settings: this.#denials };
  }

  /** Reads of limits and wallets, from memory or from the database. */
  get usage(): Pick<UsageReads, 'answerCounts' | 'forget'> {
    return this.#usage;
  }

  /** Returns the levels of each subject; none without a route. At most as old as the catalog's cache. */
  async levelsOf(projectId: string, subjects: readonly LimitedSubject[]): Promise<SubjectLevel[][]> {
    const { postgres, catalog } = this.#deps;
    const refs = subjects.map(({ type, id }) => ({ projectId, subjectType: type, subjectId: id }));
    const routes = await catalog.read(postgres.db, refs);
    return subjects.map((subject) => {
      const route = routes.resolve(projectId, subject.type, subject.id);
      return route === undefined ? [] : levelsOf({ subject, route });
    });
  }

  /**
   * Returns every limit of the subject and, if asked, of all levels above; an empty list for a subject without a route.
   *
   * @param atS shows the windows that contain this time, Unix seconds; undefined for now
   */
  async snapshot(
    project: ProjectRef,
    subject: LimitedSubject,
    { atS, levels }: { readonly atS: number | undefined; readonly levels: SnapshotLevels },
  ): Promise<RealtimeLimits> {
    const [chain = []] = await this.levelsOf(project.projectId, [subject]);
    const shown = levels === 'all' ? chain : chain.slice(0, 1);
    const rules = shown.flatMap((at) => this.#rulesKnownAt(at.route, atS).map((rule) => ({ at, rule })));
    const { statuses } = await this.#read(project, rules, { atS });
    const route = chain[0]?.route;
    return {
      tenant_id: project.tenantId,
      project_id: project.projectId,
      account_id: route?.account.id ?? null,
      subject_type: subject.type,
      subject_id: subject.id,
      rule_account_id: route?.routeId ?? null,
      limits: statuses.map(toRealtimeLimit),
      warnings: route === undefined ? [noRoute(subject)] : [],
    };
  }

  /**
   * Checks whether all `block` limits of all levels and the prepaid wallet have room for the usage. A subject without a
   * route may use anything, or nothing, as the project has set.
   */
  async check(project: ProjectRef, subject: LimitedSubject, asked: ProposedUsage): Promise<RealtimeCheck> {
    const [levels = []] = await this.levelsOf(project.projectId, [subject]);
    const [own] = levels;
    if (own === undefined) return this.#checkUnknown(project, subject);
    const rules = levels.flatMap((at) => rulesThatBlock(at.route, asked).map((rule) => ({ at, rule })));
    const paying = walletOf(project, own.route, asked);
    const { statuses, available } = await this.#read(project, rules, {
      values: asked.dimensions,
      wallet: paying,
    });
    const wallet = shortWallet(paying, available, asked);
    const full = statuses.filter((status) => !hasRoomFor(status, askedOf(status.rule, asked)));
    return {
      allowed: full.length === 0 && wallet === undefined,
      blocked_by: full.map(toRealtimeLimit),
      ...(wallet === undefined ? {} : { blocked_by_wallet: wallet }),
      warnings: [],
    };
  }

  /** Returns the rules whose usage at an instant is known: sliding windows and leases are known now. */
  #rulesKnownAt(
    { rules: { rules, hasSliding, ofLeases } }: CompiledRoute,
    atS: number | undefined,
  ): readonly CompiledRule[] {
    if (atS === undefined || (!hasSliding && ofLeases.length === 0) || atS >= unixSeconds(this.#deps.clock))
      return rules;
    return rules.filter(({ period, measure }) => period.kind !== 'sliding' && measure !== 'concurrency');
  }

  async #checkUnknown(project: ProjectRef, subject: LimitedSubject): Promise<RealtimeCheck> {
    const isDenied = await this.#denials.run(TOGETHER, project, project.tenantId);
    return {
      allowed: !isDenied,
      blocked_by: [],
      ...(isDenied ? { reason: 'unknown_subject' as const } : {}),
      warnings: [noRoute(subject)],
    };
  }

  /**
   * Returns the status of these rules, and how much of the wallet is available, as of one moment: of the current
   * windows, or of those that contain another time. Leases hold their amounts now, so windows that do not contain the
   * present have none.
   */
  async #read(
    { tenantId, projectId, projectNo }: ProjectRef,
    rules: readonly RuleAtLevel[],
    { atS, values, wallet }: ReadOptions,
  ): Promise<{ readonly statuses: LimitStatus[]; readonly available: UsageRead['available'] }> {
    if (rules.length === 0 && wallet === undefined) return { statuses: [], available: undefined };
    const nowMs = this.#deps.clock.nowMs();
    const nowS = Math.floor(nowMs / 1_000);
    const open = openRules(rules, atS ?? nowS);
    const asked = open.map((each) => ({ ...each, value: values?.get(each.rule.of ?? '') }));
    const query = { projectId, projectNo, rules: asked, wallet };
    const { counted, available } = await this.#usage.read(query, tenantId);
    const statuses = limitStatusesOf(open, counted, nowMs);
    if (atS === undefined) return { statuses, available };
    const then = statuses.map((status) =>
      windowContains(status.window, nowS) ? status : { ...status, reserved: 0n },
    );
    return { statuses: then, available };
  }
}

interface ReadOptions {
  /** Unix seconds; undefined for now. */
  readonly atS?: number | undefined;
  /** The values, by dimension, of which rules say whether they have seen them. */
  readonly values?: ReadonlyMap<string, string>;
  readonly wallet?: WalletKey | undefined;
}

/** Returns the wallet that would pay for the usage; undefined when no currency is asked for. */
function walletOf(
  { tenantId, projectId }: ProjectRef,
  { account: { id: accountId } }: CompiledRoute,
  { currency }: ProposedUsage,
): WalletKey | undefined {
  return currency === undefined ? undefined : { tenantId, projectId, accountId, currency };
}

/** Returns the prepaid wallet when it is empty or cannot pay the amount. */
function shortWallet(
  wallet: WalletKey | undefined,
  available: UsageRead['available'],
  { amount }: ProposedUsage,
): RealtimeCheck['blocked_by_wallet'] {
  if (wallet === undefined || available === undefined) return undefined;
  if (available > 0n && available >= amount) return undefined;
  return { account_id: wallet.accountId, currency: wallet.currency, available: amountText(available) };
}

/** Returns the rules that would count the usage and refuse it. Without a metric, only those that count every metric. */
function rulesThatBlock(route: CompiledRoute, asked: ProposedUsage): CompiledRule[] {
  const found: CompiledRule[] = [...route.rules.ofLeases];
  route.rules.visit(
    asked.metric ?? '',
    (dimension) => asked.dimensions.get(dimension),
    (rule) => {
      if (rule.action === 'block' && isAsked(rule, asked)) found.push(rule);
    },
  );
  return found;
}

/** Whether a rule would count the usage. A rule that counts values does not, when the usage has none. */
function isAsked({ measure, currency, of }: CompiledRule, asked: ProposedUsage): boolean {
  if (measure === 'unique') return of !== undefined && asked.dimensions.has(of);
  return measure !== 'amount' || asked.currency === undefined || currency === asked.currency;
}

/** Returns what usage adds to a limit. It is at least one charge item, and as many as its quantity says. */
function askedOf({ measure }: CompiledRule, { amount, quantity }: ProposedUsage): Amount {
  if (measure === 'amount') return amount;
  if (measure === 'unique' || measure === 'concurrency') return ONE_STORED;
  return measure === 'count' && quantity < ONE_STORED ? ONE_STORED : quantity;
}
