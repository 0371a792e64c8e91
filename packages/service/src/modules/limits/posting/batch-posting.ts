import { memoized } from '../../../kernel/maps.js';
import type { Tx } from '../../../platform/postgres/index.js';
import { postCorrections, postUsage, type UsageDebit } from '../../ledger/index.js';
import { emit } from '../../webhooks/index.js';
import type { LimitCatalog } from '../rules/catalog.js';
import type { CompiledRoute, LimitedSubject, RoutedSubject } from '../rules/route-rules.js';
import { type SubjectUsage, subjectRef, withoutUsage } from '../windows/subject-usage.js';
import { countWindows } from '../windows/windows.js';
import { AccountDebits, correctionDebit, usageDebits } from './debits.js';
import { BatchLeases, releaseCharges } from './lease-charges.js';
import type { EventPosting, PostingPlan } from './posting-plan.js';
import { isPriced, type PostingScope, type RatedUsage, type UsageGroup } from './rated-usage.js';
import { lockPosting } from './store.js';

type MissingSubject = Pick<SubjectUsage, 'scope' | 'subject'>;

/** Routes and limits, as of each call. */
export type PostingCatalog = Pick<LimitCatalog, 'read' | 'projectsWithRoutes'>;

/** By type, then by id; undefined for a subject without a route. */
type ProjectSubjects = Map<string, Map<string, SubjectUsage | undefined>>;

/** Looks up the postings of prepared events without a query. */
export interface PreparedPostings {
  /** Returns the posting of a prepared event. Adds nothing to a plan. */
  of(scope: PostingScope, event: RatedUsage): EventPosting;
  /** Whether a prepared event has to wait for another batch, because of the leases of its tenant in this one. */
  mustWait(scope: PostingScope, event: RatedUsage): boolean;
  /** Returns the route of the event's subject; undefined without one. */
  routeOf(scope: PostingScope, event: RatedUsage): CompiledRoute | undefined;
}

/**
 * Posts the usage of one batch, inside its transaction: the account of each event, the debits of its wallets, and
 * the usage of the limits and leases of its subject. Each slice of events is prepared as it is rated; `write`
 * executes the plan of the whole batch at once.
 */
export class BatchPosting {
  readonly #tx: Tx;
  readonly #catalog: PostingCatalog;
  readonly #nowMs: number;
  readonly #leases: BatchLeases;
  /** By project; undefined for a project without any route, whose subjects are not looked up. */
  readonly #projects = new Map<string, ProjectSubjects | undefined>();
  readonly #accounts = new Map<string, AccountDebits>();
  readonly #prepared: PreparedPostings = {
    of: (scope, event) => this.#postingOf(scope, event),
    mustWait: (scope, { budgetLeaseId }) => this.#leases.isUnread(scope, budgetLeaseId),
    routeOf: (scope, event) => this.#usageOf(scope, event)?.route,
  };

  /** @param nowMs when the batch is processed; the ids of its ledger transactions carry this time */
  constructor(tx: Tx, catalog: PostingCatalog, nowMs: number) {
    this.#tx = tx;
    this.#catalog = catalog;
    this.#nowMs = nowMs;
    this.#leases = new BatchLeases(nowMs);
  }

  /** Looks up the current routes and leases of a slice of events, unless the batch has met them before. */
  async prepare(slice: readonly UsageGroup[]): Promise<PreparedPostings> {
    await this.#meetProjects(slice);
    const missing: MissingSubject[] = [];
    for (const group of slice) this.#addMissing(group, missing);
    if (missing.length > 0) await this.#readRoutes(missing);
    await this.#leases.prepare(this.#tx, slice);
    return this.#prepared;
  }

  /**
   * Executes a plan: leases, reservations, windows, wallets, and the messages of alerts, in the order in which all
   * transactions lock them. Batches that post for a project of the same slot run this part one after the other, until
   * their commit.
   *
   * @param onLocked called when no other batch has to be waited for any more, if anything is posted
   */
  write(plan: PostingPlan, onLocked = () => {}): Promise<void> {
    return this.#write(plan, onLocked, (debits) => postUsage(this.#tx, debits, this.#nowMs));
  }

  /** As `write`, for the changes of a correction. */
  writeCorrection(plan: PostingPlan, correctionId: string): Promise<void> {
    return this.#write(
      plan,
      () => {},
      (debits) => postCorrections(this.#tx, debits.map(correctionDebit(correctionId)), this.#nowMs),
    );
  }

  /**
   * Returns the posting of an event that a correction takes back or adds. Its amounts go to the named account, whatever
   * its subject's route says; without an account, they go nowhere. It counts for its subject and its `parents`.
   */
  ofCorrection(scope: PostingScope, event: RatedUsage, accountId: string): EventPosting {
    const above = (event.parents ?? []).map((subject) => this.#routed(scope, subject));
    const isPosted = accountId !== '' && event.items.some(isPriced);
    const account = isPosted ? this.#account(scope, accountId) : undefined;
    return {
      ...UNPRICED,
      itemTransactionIds: account === undefined ? NO_TRANSACTIONS : transactionIds(account, event),
      usage: this.#usageOf(scope, event),
      above: above.filter((usage) => usage !== undefined),
      account,
    };
  }

  /** Returns the subjects above that of a prepared event now. */
  parentsOf(scope: PostingScope, event: RatedUsage): EventPosting['parents'] {
    return this.#usageOf(scope, event)?.parents ?? UNPRICED.parents;
  }

  async #write(
    plan: PostingPlan,
    onLocked: () => void,
    post: (debits: readonly UsageDebit[]) => Promise<void>,
  ): Promise<void> {
    const tx = this.#tx,
      nowMs = this.#nowMs;
    const subjects = plan.subjects();
    const debits = plan.debits();
    const charges = plan.charges();
    if (subjects.length === 0 && debits.length === 0 && charges.length === 0) return;
    const projectNos = [...subjects, ...debits, ...charges].map(({ scope }) => scope.projectNo);
    await lockPosting(tx, projectNos);
    onLocked();
    const released = await releaseCharges(tx, charges);
    const crossings = await countWindows(tx, { subjects, catalog: this.#catalog, nowMs });
    await post(usageDebits(debits, released));
    await emit(tx, crossings);
  }

  #postingOf(scope: PostingScope, event: RatedUsage): EventPosting {
    const usage = this.#usageOf(scope, event);
    const isAnyPriced = event.items.some(isPriced);
    if (usage === undefined && event.budgetLeaseId === '') return isAnyPriced ? UNROUTED : UNPRICED;
    const isPosted = isAnyPriced && usage !== undefined;
    const lease = this.#leases.of(scope, event.subject, event.budgetLeaseId);
    return {
      posting: isPosted ? 'posted' : isAnyPriced ? 'unrouted' : 'unpriced',
      parents: usage?.parents ?? UNPRICED.parents,
      accountId: usage?.account.accountId ?? '',
      leaseStatus: lease.status,
      itemTransactionIds: isPosted ? transactionIds(usage.account, event) : NO_TRANSACTIONS,
      usage,
      above: usage?.above ?? UNPRICED.above,
      account: usage?.account,
      charge: lease.charge,
    };
  }

  async #meetProjects(groups: readonly UsageGroup[]): Promise<void> {
    const unknown = new Set<string>();
    for (const { scope } of groups) if (!this.#projects.has(scope.projectId)) unknown.add(scope.projectId);
    if (unknown.size === 0) return;
    const withRoutes = await this.#catalog.projectsWithRoutes(this.#tx, unknown);
    for (const id of unknown) this.#projects.set(id, withRoutes.has(id) ? new Map() : undefined);
  }

  /** Adds the subjects of a group that the batch has not met before to those whose routes are to be read. */
  #addMissing({ scope, events }: UsageGroup, missing: MissingSubject[]): void {
    const ofProject = this.#projects.get(scope.projectId);
    if (ofProject === undefined) return;
    const add = (subject: LimitedSubject) => {
      const ofType = subjectsOfType(ofProject, subject.type);
      if (ofType.has(subject.id)) return;
      ofType.set(subject.id, undefined);
      missing.push({ scope, subject });
    };
    for (const { subject, parents } of events) {
      if (subject !== undefined) add(subject);
      if (parents !== undefined) for (const parent of parents) add(parent);
    }
  }

  async #readRoutes(missing: readonly MissingSubject[]): Promise<void> {
    const routes = await this.#catalog.read(this.#tx, missing.map(subjectRef));
    for (const { scope, subject } of missing) {
      const route = routes.resolve(scope.projectId, subject.type, subject.id);
      const ofProject = this.#projects.get(scope.projectId);
      if (route !== undefined && ofProject !== undefined) this.#meet(scope, ofProject, { subject, route });
    }
  }

  /** Returns the usage of a subject; every subject has one, whether events name it or subjects below it. */
  #meet(scope: PostingScope, ofProject: ProjectSubjects, { subject, route }: RoutedSubject): SubjectUsage {
    const ofType = subjectsOfType(ofProject, subject.type);
    const known = ofType.get(subject.id);
    if (known !== undefined) return known;
    const parent = route.parent === undefined ? undefined : this.#meet(scope, ofProject, route.parent);
    const above = parent === undefined ? UNPRICED.above : [parent, ...parent.above];
    const parents = parent === undefined ? UNPRICED.parents : [parent.subject, ...parent.parents];
    const account = this.#account(scope, route.account.id);
    const usage = withoutUsage({ scope, subject, route, account }, { above, parents });
    ofType.set(subject.id, usage);
    return usage;
  }

  #usageOf(scope: PostingScope, { subject }: RatedUsage): SubjectUsage | undefined {
    return subject === undefined ? undefined : this.#routed(scope, subject);
  }

  #routed({ projectId }: PostingScope, { type, id }: LimitedSubject): SubjectUsage | undefined {
    return this.#projects.get(projectId)?.get(type)?.get(id);
  }

  #account(scope: PostingScope, accountId: string): AccountDebits {
    return memoized(this.#accounts, accountId, () => new AccountDebits(accountId, scope, this.#nowMs));
  }
}

const NO_TRANSACTIONS: readonly string[] = [];

/** The posting that all events without route and lease share. */
const UNROUTED: EventPosting = {
  parents: [],
  posting: 'unrouted',
  accountId: '',
  leaseStatus: 'none',
  itemTransactionIds: NO_TRANSACTIONS,
  usage: undefined,
  above: [],
  account: undefined,
  charge: undefined,
};
const UNPRICED: EventPosting = { ...UNROUTED, posting: 'unpriced' };

function subjectsOfType(ofProject: ProjectSubjects, type: string): Map<string, SubjectUsage | undefined> {
  return memoized(ofProject, type, () => new Map());
}

function transactionIds(account: AccountDebits, { items }: RatedUsage): string[] {
  return items.map((item) => (isPriced(item) ? account.in(item.currency).transactionId : ''));
}
