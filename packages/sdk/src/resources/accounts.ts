import type {
  Account,
  AccountList,
  AccountListQuery,
  Adjustment,
  CreateAccountBody,
  CreateAdjustmentBody,
  CreateCreditBody,
  Credit,
  CreditList,
  LedgerEntry,
  LedgerPage,
  LedgerQuery,
  Wallet,
  WalletList,
  WalletMode,
} from '#contract';
import type { ProjectTransport } from '../project-transport.js';
import { type PageOptions, path } from '../transport.js';
import { everyEntry } from './pages.js';

/** Billing accounts, their wallets (one per currency) and their ledger. */
export class Accounts {
  readonly #transport: ProjectTransport;

  constructor(transport: ProjectTransport) {
    this.#transport = transport;
  }

  create(account: CreateAccountBody): Promise<Account> {
    return this.#transport.post('/accounts', account);
  }

  list(query: AccountListQuery = {}): Promise<AccountList> {
    return this.#transport.get('/accounts', query);
  }

  get(accountId: string): Promise<Account> {
    return this.#transport.get(path`/accounts/${accountId}`);
  }

  wallets(accountId: string): Promise<WalletList> {
    return this.#transport.get(path`/accounts/${accountId}/wallets`);
  }

  /** Opens the wallet, if need be, and sets its mode. */
  setWalletMode(accountId: string, currency: string, mode: WalletMode): Promise<Wallet> {
    return this.#transport.put(path`/accounts/${accountId}/wallets/${currency}`, { mode });
  }

  /** Adds to a wallet. Sent again with the same key, it is added once. */
  credit(
    accountId: string,
    currency: string,
    credit: CreateCreditBody,
    options: { readonly idempotencyKey: string },
  ): Promise<Credit> {
    return this.#transport.post(path`/accounts/${accountId}/wallets/${currency}/credits`, credit, options);
  }

  /** Newest first, each with what usage has left of it. */
  credits(accountId: string, currency: string, page: PageOptions = {}): Promise<CreditList> {
    return this.#transport.get(path`/accounts/${accountId}/wallets/${currency}/credits`, page);
  }

  /** A correction by hand, up or down. */
  adjust(
    accountId: string,
    currency: string,
    adjustment: CreateAdjustmentBody,
    options: { readonly idempotencyKey?: string } = {},
  ): Promise<Adjustment> {
    const rest = path`/accounts/${accountId}/wallets/${currency}/adjustments`;
    return this.#transport.post(rest, adjustment, options);
  }

  /** One page of ledger lines, newest first. */
  ledger(accountId: string, query: LedgerQuery = {}): Promise<LedgerPage> {
    return this.#transport.get(path`/accounts/${accountId}/ledger`, query);
  }

  /** Every ledger line that matches, page after page, newest first. */
  allLedgerEntries(
    accountId: string,
    query: Omit<LedgerQuery, 'cursor'> = {},
  ): AsyncGenerator<LedgerEntry, void> {
    return everyEntry(
      (cursor) => this.ledger(accountId, { ...query, ...cursor }),
      (page) => page.entries,
    );
  }
}
