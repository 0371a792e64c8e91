import {
  type Adjustment,
  type Credit,
  CURRENCY_CHARS_MAX,
  CURRENCY_PATTERN,
  type LedgerKind,
  WALLETS_LIMIT_MAX,
  type WalletMode,
  type WalletsQuery,
} from '@tollgate/contract';
import type { ChangeContext } from '../../kernel/change-context.js';
import { unixSeconds } from '../../kernel/clock.js';
import { invalidCursor, ListCursors } from '../../kernel/cursor.js';
import { invalidRequest } from '../../kernel/errors.js';
import { newId } from '../../kernel/id.js';
import type { ListPage, Page } from '../../kernel/page.js';
import type { ProjectScope } from '../../kernel/scope.js';
import { ProjectDb, type Tx, transaction } from '../../platform/postgres/index.js';
import { audit } from '../tenancy/index.js';
import { AccountService, type LedgerDeps } from './accounts.js';
import { type Amount, amountText, smallerAmount } from './amount.js';
import { type CreditGrant, insertCredit, listCredits } from './grant-store.js';
import { once } from './idempotency.js';
import { insufficientFunds } from './insufficient-funds.js';
import { insertTransactions } from './ledger-store.js';
import { settleWallets } from './settle-wallets.js';
import {
  addToWallet,
  availableIn,
  earlierExpiry,
  keyOf,
  type LedgerLine,
  type WalletKey,
  type WalletState,
  withMode,
} from './wallet.js';
import { listWallets, lockWallets, openAndLock, updateWallets } from './wallet-store.js';

const CREDIT_PRIORITY_DEFAULT = 0;
const CURRENCY = new RegExp(CURRENCY_PATTERN);
/** A position is a currency, filled up with spaces. */
const CURSORS = new ListCursors('wallets', CURRENCY_CHARS_MAX);

/** A change request for one wallet, and who sends it. */
export interface WalletCaller extends ChangeContext {
  readonly accountId: string;
  readonly currency: string;
}

export interface CreditInput {
  /** Above 0. */
  readonly amount: Amount;
  readonly description?: string | undefined;
  /** Unix seconds. */
  readonly expiresAt?: number | undefined;
  readonly priority?: number | undefined;
}

export interface AdjustmentInput {
  /** Not 0. */
  readonly amount: Amount;
  readonly reason: string;
}

/** Wallets, credits and adjustments. All methods throw `not_found` when the project has no such account. */
export class WalletService {
  readonly #deps: LedgerDeps;
  readonly #accounts: AccountService;

  constructor(deps: LedgerDeps) {
    this.#deps = deps;
    this.#accounts = new AccountService(deps);
  }

  /** Returns one page of an account's wallets, ordered by currency. @throws DomainError `invalid_request` */
  async list(
    scope: ProjectScope,
    accountId: string,
    { limit = WALLETS_LIMIT_MAX, cursor }: WalletsQuery,
  ): Promise<{ readonly wallets: readonly WalletState[]; readonly nextCursor: string | null }> {
    await this.#accounts.get(scope, accountId);
    const query = [scope.tenantId, scope.projectId, accountId];
    const after = cursor === undefined ? '' : CURSORS.decode(cursor, query)?.toString().trimEnd();
    if (after === undefined || (after !== '' && !CURRENCY.test(after))) throw invalidCursor();
    const db = new ProjectDb(this.#deps.postgres.db, scope);
    const found = await listWallets(db, accountId, { after, max: limit + 1 });
    const wallets = found.slice(0, limit);
    const last = found.length > limit ? wallets.at(-1) : undefined;
    const position = last && Buffer.from(last.currency.padEnd(CURRENCY_CHARS_MAX));
    return { wallets, nextCursor: position === undefined ? null : CURSORS.encode(position, query) };
  }

  /** Returns the credits of a wallet; a wallet that was never opened has none. */
  async listCredits(key: WalletKey, page: Page): Promise<ListPage<Credit>> {
    await this.#accounts.get(key, key.accountId);
    const { items, totalCount } = await listCredits(new ProjectDb(this.#deps.postgres.db, key), key, page);
    return { items: items.map(toCredit), totalCount };
  }

  /** Sets the mode of a wallet, and opens the wallet if needed. An open wallet that has the mode stays unchanged. */
  async setMode(caller: WalletCaller, mode: WalletMode): Promise<WalletState> {
    await this.#accounts.get(caller.project, caller.accountId);
    return transaction(this.#deps.postgres, async (tx) => {
      const isOpen = (await lockWallets(tx, [keyOfCaller(caller)])).size > 0;
      const before = await this.#lock(tx, caller);
      const { wallet, entries } = withMode(before, mode);
      const description = `From ${before.mode} to ${mode}`;
      if (entries.length > 0) await this.#post(tx, wallet, 'mode_change', description, entries);
      await updateWallets(tx, [wallet]);
      if (!isOpen || mode !== before.mode) await this.#audit(tx, caller, 'wallet.update', { mode });
      return wallet;
    });
  }

  /**
   * @throws DomainError `invalid_request` for an `expires_at` that has passed; `idempotency_key_conflict`
   */
  async credit(caller: WalletCaller, input: CreditInput, key: string | undefined): Promise<Credit> {
    if (input.amount <= 0n) throw invalidRequest('amount', 'expected an amount above 0');
    const { amount, description = null, expiresAt = null, priority = CREDIT_PRIORITY_DEFAULT } = input;
    const asked = [amountText(amount), description, expiresAt, priority];
    return this.#once(caller, 'credit', key, asked, async (tx) => {
      if (expiresAt !== null && expiresAt <= unixSeconds(this.#deps.clock)) {
        throw invalidRequest('expires_at', 'expected a time in the future');
      }
      const wallet = await this.#lock(tx, caller);
      const grant = await this.#addGrant(tx, wallet, {
        source: 'credit',
        amount,
        description,
        expiresAt,
        priority,
      });
      await this.#audit(tx, caller, 'credit.create', {
        credit_id: grant.id,
        transaction_id: grant.transactionId,
        amount: amountText(amount),
        expires_at: expiresAt,
        priority,
      });
      return toCredit(grant);
    });
  }

  /**
   * Adds a credit without an expiry, or takes out an amount.
   *
   * @throws DomainError `insufficient_funds` when a prepaid wallet has less than the amount; `idempotency_key_conflict`
   */
  async adjust(
    caller: WalletCaller,
    { amount, reason }: AdjustmentInput,
    key: string | undefined,
  ): Promise<Adjustment> {
    if (amount === 0n) throw invalidRequest('amount', 'expected an amount other than 0');
    return this.#once(caller, 'adjustment', key, [amountText(amount), reason], async (tx) => {
      const wallet = await this.#lock(tx, caller);
      const isAdded = amount > 0n;
      const posted = isAdded
        ? await this.#addGrant(tx, wallet, {
            source: 'adjustment',
            amount,
            description: reason,
            expiresAt: null,
            priority: 0,
          })
        : { id: null, transactionId: await this.#takeOut(tx, wallet, -amount, reason) };
      const adjustment = {
        transaction_id: posted.transactionId,
        account_id: caller.accountId,
        currency: caller.currency,
        amount: amountText(amount),
        reason,
        credit_id: posted.id,
        created_at: unixSeconds(this.#deps.clock),
      };
      const { account_id: _account, currency: _currency, created_at: _at, ...change } = adjustment;
      await this.#audit(tx, caller, 'adjustment.create', change);
      return adjustment;
    });
  }

  /** Changes one wallet in one transaction. The account is looked up before, because accounts are never deleted. */
  async #once<Answer extends object>(
    caller: WalletCaller,
    operation: string,
    key: string | undefined,
    asked: readonly (string | number | null)[],
    work: (tx: Tx) => Promise<Answer>,
  ): Promise<Answer> {
    const { project, accountId, currency } = caller;
    await this.#accounts.get(project, accountId);
    const { tenantId, projectId } = project;
    const request = { tenantId, projectId, operation, key, asked: [accountId, currency, ...asked] };
    return transaction(this.#deps.postgres, (tx) =>
      once(tx, request, unixSeconds(this.#deps.clock), () => work(tx)),
    );
  }

  /** Locks a wallet and brings its credits up to date; the caller writes it back. */
  async #lock(tx: Tx, caller: WalletCaller): Promise<WalletState> {
    const locked = await openAndLock(tx, [keyOfCaller(caller)], unixSeconds(this.#deps.clock));
    const { wallets, expiries } = await settleWallets(tx, [...locked.values()], this.#deps.clock);
    await insertTransactions(tx, expiries);
    const [wallet] = wallets;
    if (wallet === undefined) throw new Error('the opened wallet was not returned');
    return wallet;
  }

  /** Adds a credit to a settled wallet, less the debits that no credit was left for. */
  async #addGrant(
    tx: Tx,
    before: WalletState,
    input: Pick<CreditGrant, 'source' | 'amount' | 'description' | 'expiresAt' | 'priority'>,
  ): Promise<CreditGrant> {
    const { amount, expiresAt, source, description } = input;
    const { wallet, entries } = addToWallet(before, amount, source === 'credit' ? 'credits' : 'adjustments');
    const waiting = before.unappliedDebit;
    const used = waiting > 0n ? smallerAmount(waiting, amount) : 0n;
    const remaining = amount - used;
    const transactionId = await this.#post(tx, wallet, source, description, entries);
    const grant: CreditGrant = {
      ...keyOf(before),
      ...input,
      id: newId('crg', this.#deps.clock),
      transactionId,
      remaining,
      expiredAt: null,
      createdAt: unixSeconds(this.#deps.clock),
    };
    await insertCredit(tx, grant);
    const nextExpiryAt =
      remaining === 0n ? before.nextExpiryAt : earlierExpiry(before.nextExpiryAt, expiresAt);
    await updateWallets(tx, [{ ...wallet, unappliedDebit: waiting - used, nextExpiryAt }]);
    return grant;
  }

  async #takeOut(tx: Tx, before: WalletState, amount: Amount, reason: string): Promise<string> {
    const available = availableIn(before);
    if (before.mode === 'prepaid' && available < amount) throw insufficientFunds(before, available, amount);
    const { wallet, entries } = addToWallet(before, -amount, 'adjustments');
    const transactionId = await this.#post(tx, wallet, 'adjustment', reason, entries);
    await updateWallets(tx, [{ ...wallet, unappliedDebit: before.unappliedDebit + amount }]);
    return transactionId;
  }

  async #post(
    tx: Tx,
    wallet: WalletState,
    kind: LedgerKind,
    description: string | null,
    entries: readonly LedgerLine[],
  ): Promise<string> {
    const id = newId('led', this.#deps.clock);
    const createdAtMs = this.#deps.clock.nowMs();
    await insertTransactions(tx, [{ ...keyOf(wallet), id, kind, description, createdAtMs, entries }]);
    return id;
  }

  #audit(tx: Tx, caller: WalletCaller, action: string, change: object): Promise<void> {
    const { project, principal, requestId, accountId, currency } = caller;
    return audit(tx, {
      tenantId: project.tenantId,
      projectId: project.projectId,
      principal,
      action,
      resourceType: 'wallet',
      resourceId: `${accountId}/${currency}`,
      change,
      requestId,
      atMs: this.#deps.clock.nowMs(),
    });
  }
}

function toCredit(grant: CreditGrant): Credit {
  return {
    id: grant.id,
    transaction_id: grant.transactionId,
    account_id: grant.accountId,
    currency: grant.currency,
    source: grant.source,
    amount: amountText(grant.amount),
    remaining: amountText(grant.remaining),
    priority: grant.priority,
    expires_at: grant.expiresAt,
    expired_at: grant.expiredAt,
    description: grant.description,
    created_at: grant.createdAt,
  };
}

export function keyOfCaller({
  project: { tenantId, projectId },
  accountId,
  currency,
}: WalletCaller): WalletKey {
  return { tenantId, projectId, accountId, currency };
}
