import type { Tx } from '../../../platform/postgres/index.js';
import { postUsage } from '../../ledger/index.js';
import { emit } from '../../webhooks/index.js';
import type { LimitCatalog } from '../rules/catalog.js';
import { hasWindowSums, type SubjectUsage, subjectRef } from '../windows/subject-usage.js';
import { UsageCounter } from '../windows/usage-counter.js';
import { countWindows } from '../windows/windows.js';
import { AccountDebits, usageDebits, type WalletDebit } from './debits.js';
import { BatchLeases } from './lease-charges.js';
import { memoized } from './memoized.js';
import { lockPosting } from './posting-lock-store.js';
import {
  isPriced,
  type PostedFields,
  type PostingScope,
  type RatedUsage,
  type UsageGroup,
} from './rated-usage.js';
import { releaseCharges } from './release.js';

type MissingSubject = Pick<SubjectUsage, 'scope' | 'subject'>;

/** A posting that nothing was added for yet. */
export interface PlannedPosting extends PostedFields {
  readonly usage: SubjectUsage | undefined;
}

/** Routes and limits, as of each call. */
export type PostingCatalog = Pick<LimitCatalog, 'read' | 'projectsWithRoutes'>;

/** By type, then by id; undefined for a subject without a route. */
type ProjectSubjects = Map<string, Map<string, SubjectUsage | undefined>>;

/**
 * Posts the usage of one batch, inside its transaction: which account an event goes to, what it costs its
 * wallets, and what it uses of the limits and leases of its subject. Events are prepared, planned and added
 * as they are rated; `write` then does everything for the whole batch at once.
 */
export class BatchPosting {
  readonly #leases: BatchLeases;
  /** By project; undefined for one without any route, whose subjects are not looked up. */
  readonly #projects = new Map<string, ProjectSubjects | undefined>();
  readonly #accounts = new Map<string, AccountDebits>();
  readonly #counter = new UsageCounter();

  /** @param nowMs when the batch is processed; its ledger transactions carry this time in their ids */
  constructor(
    private readonly tx: Tx,
    private readonly catalog: PostingCatalog,
    private readonly nowMs: number,
  ) {
    this.#leases = new BatchLeases(nowMs);
  }

  /** Looks up the routes and leases of events, as of now, where the batch has not met them before. */
  async prepare(groups: readonly UsageGroup[]): Promise<void> {
    await this.#meetProjects(groups);
    const missing: MissingSubject[] = [];
    for (const group of groups) this.#addMissing(group, missing);
    if (missing.length > 0) await this.#readRoutes(missing);
    await this.#leases.prepare(this.tx, groups);
  }

  /** What the posting of an event, which has been prepared, says on its row. Nothing is added yet. */
  plan(scope: PostingScope, event: RatedUsage): PlannedPosting {
    const usage = this.#usageOf(scope, event);
    const isAnyPriced = event.items.some(isPriced);
    if (usage === undefined && event.budgetLeaseId === '') return isAnyPriced ? UNROUTED : UNPRICED;
    const isPosted = isAnyPriced && usage !== undefined;
    return {
      posting: isPosted ? 'posted' : isAnyPriced ? 'unrouted' : 'unpriced',
      accountId: usage?.account.accountId ?? '',
      leaseStatus: this.#leases.statusOf(scope, event.subject, event.budgetLeaseId),
      itemTransactionIds: isPosted ? transactionIds(usage.account, event) : NO_TRANSACTIONS,
      usage,
    };
  }

  /** Adds an event that was planned to what the batch writes. */
  add(scope: PostingScope, event: RatedUsage, { usage, leaseStatus }: PlannedPosting): void {
    if (leaseStatus === 'applied') this.#leases.add(scope, event);
    if (usage === undefined) return;
    this.#counter.add(usage, event);
    for (const item of event.items) {
      if (!isPriced(item)) continue;
      const debit = usage.account.in(item.currency);
      debit.itemCount++;
      debit.amount += item.amount;
    }
  }

  /** Of all that was added, at most one for each wallet. */
  debits(): WalletDebit[] {
    return [...this.#accounts.values()].flatMap((account) => account.posted());
  }

  /**
   * Writes what was added: leases, what is reserved, windows, wallets, and what crossings tell, in the order
   * in which everybody locks them. Batches take turns from here to their commit.
   */
  async write(): Promise<void> {
    const { tx, nowMs } = this;
    const subjects = this.#counted();
    const debits = this.debits();
    const charges = this.#leases.charged();
    if (subjects.length === 0 && debits.length === 0 && charges.length === 0) return;
    await lockPosting(tx);
    const released = await releaseCharges(tx, charges);
    const crossings = await countWindows(tx, { subjects, catalog: this.catalog, nowMs });
    await postUsage(tx, usageDebits(debits, released), nowMs);
    await emit(tx, crossings);
  }

  async #meetProjects(groups: readonly UsageGroup[]): Promise<void> {
    const unknown = new Set<string>();
    for (const { scope } of groups) if (!this.#projects.has(scope.projectId)) unknown.add(scope.projectId);
    if (unknown.size === 0) return;
    const withRoutes = await this.catalog.projectsWithRoutes(this.tx, unknown);
    for (const id of unknown) this.#projects.set(id, withRoutes.has(id) ? new Map() : undefined);
  }

  /** Adds the subjects of a group that the batch has not met before to those whose routes are to be read. */
  #addMissing({ scope, events }: UsageGroup, missing: MissingSubject[]): void {
    const ofProject = this.#projects.get(scope.projectId);
    if (ofProject === undefined) return;
    for (const { subject } of events) {
      if (subject === undefined) continue;
      const ofType = subjectsOfType(ofProject, subject.type);
      if (ofType.has(subject.id)) continue;
      ofType.set(subject.id, undefined);
      missing.push({ scope, subject });
    }
  }

  async #readRoutes(missing: readonly MissingSubject[]): Promise<void> {
    const routes = await this.catalog.read(this.tx, missing.map(subjectRef));
    for (const { scope, subject } of missing) {
      const route = routes.resolve(scope.projectId, subject.type, subject.id);
      const ofProject = this.#projects.get(scope.projectId);
      if (route === undefined || ofProject === undefined) continue;
      const account = this.#account(scope, route.account.id);
      const usage = { scope, subject, route, account, latest: [], all: undefined };
      subjectsOfType(ofProject, subject.type).set(subject.id, usage);
    }
  }

  #usageOf({ projectId }: PostingScope, { subject }: RatedUsage): SubjectUsage | undefined {
    if (subject === undefined) return undefined;
    return this.#projects.get(projectId)?.get(subject.type)?.get(subject.id);
  }

  #account(scope: PostingScope, accountId: string): AccountDebits {
    return memoized(this.#accounts, accountId, () => new AccountDebits(accountId, scope, this.nowMs));
  }

  /** Those with something to count, in an order in which neighbours in the index are written one after the other. */
  #counted(): SubjectUsage[] {
    const counted: SubjectUsage[] = [];
    for (const ofProject of this.#projects.values()) {
      for (const ofType of ofProject?.values() ?? []) {
        for (const id of [...ofType.keys()].sort()) {
          const usage = ofType.get(id);
          if (usage !== undefined && hasWindowSums(usage)) counted.push(usage);
        }
      }
    }
    return counted;
  }
}

const NO_TRANSACTIONS: readonly string[] = [];

/** Of events without route and lease, which share these. */
const UNROUTED: PlannedPosting = {
  posting: 'unrouted',
  accountId: '',
  leaseStatus: 'none',
  itemTransactionIds: NO_TRANSACTIONS,
  usage: undefined,
};
const UNPRICED: PlannedPosting = { ...UNROUTED, posting: 'unpriced' };

function subjectsOfType(ofProject: ProjectSubjects, type: string): Map<string, SubjectUsage | undefined> {
  return memoized(ofProject, type, () => new Map());
}

function transactionIds(account: AccountDebits, { items }: RatedUsage): string[] {
  return items.map((item) => (isPriced(item) ? account.in(item.currency).transactionId : ''));
}
