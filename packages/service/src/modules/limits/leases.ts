import type { BudgetLease, ErrorDetail, LeaseStatus } from '@tollgate/contract';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { newId } from '../../kernel/id.js';
import { ApiError, invalidRequest, type Page, type ProjectRef } from '../../platform/http/index.js';
import { type Postgres, type Tx, transaction } from '../../platform/postgres/index.js';
import { type Amount, amountText, once, release, reserve } from '../ledger/index.js';
import type { CompiledRoute } from './book/route-book.js';
import type { CompiledRule } from './book/rule.js';
import { Lanes } from './lanes.js';
import { ended, heldOf, type Lease, rulesOfLease, toBudgetLease } from './lease.js';
import * as store from './lease-store.js';
import { addReserved, subtractReserved } from './reserved-store.js';
import { hasRoomFor, openRules, type Standing, type Subject, standingsOf } from './standing.js';
import { readCountedIn } from './standing-store.js';
import type { SubjectLimits } from './subject-limits.js';

export interface LeaseDeps {
  readonly postgres: Postgres;
  readonly limits: Pick<SubjectLimits, 'routeOf' | 'standings'>;
  readonly clock: Clock;
}

export interface LeaseInput {
  readonly subject: Subject;
  /** Above 0. */
  readonly amount: Amount;
  readonly currency: string;
  readonly metric: string | null;
  readonly ttlSeconds: number;
}

/** A lease that is asked for, and what would hold it. */
interface Request extends LeaseInput {
  readonly project: ProjectRef;
  readonly route: CompiledRoute | undefined;
  readonly rules: readonly CompiledRule[];
}

/** Budget leases of all subjects. README.md says what always holds. */
export class Leases {
  /** Leases of one subject meet in the same rows. */
  readonly #lanes = new Lanes();

  constructor(private readonly deps: LeaseDeps) {}

  /**
   * Reserves an amount. It is held by nothing where nothing limits the subject.
   *
   * @param key the `Idempotency-Key`; only what was granted is kept with it
   * @throws ApiError `limit_exceeded`, `insufficient_funds`, `idempotency_key_conflict`, `server_busy`
   */
  async create(project: ProjectRef, input: LeaseInput, key: string | undefined): Promise<BudgetLease> {
    if (input.amount <= 0n) throw invalidRequest('amount', 'expected an amount above 0');
    const { subject, currency, metric } = input;
    const route = await this.deps.limits.routeOf(project.projectId, subject);
    const rules = route === undefined ? [] : rulesOfLease(route, input);
    const request = { ...input, project, route, rules };
    if (key === undefined) await this.#refuseAtOnce(request);
    const { tenantId, projectId } = project;
    const asked = [subject.type, subject.id, amountText(input.amount), currency, metric, input.ttlSeconds];
    const asOnce = { tenantId, projectId, operation: 'budget_lease', key, asked };
    return this.#lanes.run(`${projectId}\n${subject.type}\n${subject.id}`, () =>
      transaction(this.deps.postgres, (tx) =>
        once(tx, asOnce, unixSeconds(this.deps.clock), () => this.#grant(tx, request)),
      ),
    );
  }

  /** @throws ApiError `not_found` */
  async get(scope: store.LeaseScope, id: string): Promise<BudgetLease> {
    const lease = await store.findLease(this.deps.postgres.db, scope, id);
    if (lease === undefined) throw new ApiError('not_found');
    return toBudgetLease(lease, unixSeconds(this.deps.clock));
  }

  /** Gives back what the lease still holds; one that has ended stays as it is. @throws ApiError `not_found` */
  async close(project: ProjectRef, id: string): Promise<BudgetLease> {
    const { postgres, clock } = this.deps;
    return transaction(postgres, async (tx) => {
      const lease = await store.lockLease(tx, project, id);
      if (lease === undefined) throw new ApiError('not_found');
      const nowS = unixSeconds(clock);
      if (lease.status !== 'active') return toBudgetLease(lease, nowS);
      await giveBack(tx, [{ lease, projectNo: project.projectNo }]);
      const after = ended(lease, nowS);
      await store.updateEnded(tx, [after]);
      return toBudgetLease(after, nowS);
    });
  }

  /** Those of a subject, newest first. */
  async list(
    scope: store.LeaseScope,
    filter: { readonly subject: Subject; readonly status: LeaseStatus | undefined },
    page: Page,
  ): Promise<{ budget_leases: BudgetLease[]; total_count: number }> {
    const nowS = unixSeconds(this.deps.clock);
    const { leases, total } = await store.listLeases(this.deps.postgres.db, scope, filter, nowS, page);
    return { budget_leases: leases.map((lease) => toBudgetLease(lease, nowS)), total_count: total };
  }

  /** Where there clearly is no room, nobody needs to wait for those who have got some. */
  async #refuseAtOnce({ project, subject, route, rules, amount }: Request): Promise<void> {
    if (route === undefined || rules.length === 0) return;
    refuseFull(await this.deps.limits.standings(project, subject, route, rules), amount);
  }

  /** Reserves first and looks then: whoever reserves of the same rule waits meanwhile. What is refused is rolled back. */
  async #grant(tx: Tx, request: Request): Promise<BudgetLease> {
    const { project, subject, route, rules, amount } = request;
    const { clock } = this.deps;
    const ruleNos = rules.map(({ ruleNo }) => ruleNo);
    await addReserved(
      tx,
      ruleNos.map((ruleNo) => ({ projectNo: project.projectNo, subject, ruleNo, amount })),
    );
    const nowS = unixSeconds(clock);
    if (route !== undefined && rules.length > 0) {
      const open = openRules(route, rules, nowS);
      const counted = await readCountedIn(tx, project.projectNo, subject, open);
      const standings = standingsOf(route, open, counted);
      refuseFull(
        standings.map((standing) => ({ ...standing, reserved: standing.reserved - amount })),
        amount,
      );
    }
    const holdsWallet = route !== undefined && (await this.#reserveOfWallet(tx, request, route));
    const lease = newLease(request, { id: newId('bl', clock), ruleNos, holdsWallet, nowS });
    await store.insertLease(tx, lease);
    return toBudgetLease(lease, nowS);
  }

  /** Whether the wallet holds the amount now: a postpaid one needs not. */
  async #reserveOfWallet(
    tx: Tx,
    { project, currency, amount }: Request,
    { accountId }: CompiledRoute,
  ): Promise<boolean> {
    const { tenantId, projectId } = project;
    const outcome = await reserve(tx, { tenantId, projectId, accountId, currency }, amount, this.deps.clock);
    if (outcome === 'insufficient_funds') throw new ApiError('insufficient_funds');
    return outcome === 'held';
  }
}

/** Gives back, in the order of all transactions, what leases of any projects hold. The caller has locked them, and ends them. */
export async function giveBack(tx: Tx, leases: readonly store.DueLease[]): Promise<void> {
  await subtractReserved(
    tx,
    leases.flatMap(({ lease, projectNo }) => heldOf(lease, projectNo)),
  );
  await release(
    tx,
    leases.flatMap(({ lease: { tenantId, projectId, accountId, currency, holdsWallet, held } }) =>
      holdsWallet && accountId !== null && held > 0n
        ? [{ tenantId, projectId, accountId, currency, amount: held }]
        : [],
    ),
  );
}

function newLease(
  { project, subject, route, amount, currency, metric, ttlSeconds }: Request,
  { nowS, ...granted }: Pick<Lease, 'id' | 'ruleNos' | 'holdsWallet'> & { readonly nowS: number },
): Lease {
  return {
    ...granted,
    tenantId: project.tenantId,
    projectId: project.projectId,
    subject,
    accountId: route?.accountId ?? null,
    currency,
    metric,
    amount,
    used: 0n,
    held: amount,
    status: 'active',
    expiresAt: nowS + ttlSeconds,
    createdAt: nowS,
    closedAt: null,
  };
}

/**
 * Refunds make no room for leases: what is reserved stays within the limit by itself, because a lease outlives the window.
 *
 * @throws ApiError `limit_exceeded`, naming the limits without room
 */
function refuseFull(standings: readonly Standing[], asked: Amount): void {
  const full = standings.filter(
    (standing) => !hasRoomFor({ ...standing, used: standing.used > 0n ? standing.used : 0n }, asked),
  );
  if (full.length === 0) return;
  throw new ApiError('limit_exceeded', { details: full.map(detailOf) });
}

function detailOf({ rule, used, reserved, limit }: Standing): ErrorDetail {
  const message = `${amountText(used)} used and ${amountText(reserved)} reserved of ${amountText(limit)} ${rule.currency}`;
  return { path: rule.id, message };
}
