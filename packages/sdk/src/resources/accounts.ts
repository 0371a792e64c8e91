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
  UpdateAccountBody,
  Wallet,
  WalletList,
  WalletMode,
  WalletsQuery,
} from '#contract';
import type { CallOptions, PathTransport, WriteOptions } from '../path-transport.js';
import { type PageOptions, path } from '../transport.js';
import { everyEntry } from './pages.js';

/** Billing accounts, their wallets (one per currency) and their ledger. */
export class Accounts {
  readonly #transport: PathTransport;

  constructor(transport: PathTransport) {
    this.#transport = transport;
  }

  create(account: CreateAccountBody, options?: CallOptions): Promise<Account> {
    return this.#transport.post('/accounts', account, options);
  }

  list(query: AccountListQuery = {}, options?: CallOptions): Promise<AccountList> {
    return this.#transport.get('/accounts', query, options);
  }

  get(accountId: string, options?: CallOptions): Promise<Account> {
    return this.#transport.get(path`/accounts/${accountId}`, {}, options);
  }

  /** Changes the fields that are given. */
  update(accountId: string, changes: UpdateAccountBody, options?: CallOptions): Promise<Account> {
    return this.#transport.put(path`/accounts/${accountId}`, changes, options);
  }

  /** Returns the first 1,000 wallets, in order of currency. */
  wallets(accountId: string, options?: CallOptions): Promise<WalletList> {
    return this.#wallets(accountId, {}, options);
  }

  /** Yields every wallet, page after page, in order of currency. */
  allWallets(
    accountId: string,
    query: Omit<WalletsQuery, 'cursor'> = {},
    options?: CallOptions,
  ): AsyncGenerator<Wallet, void> {
    return everyEntry(
      (cursor) => this.#wallets(accountId, { ...query, ...cursor }, options),
      (page) => page.wallets,
    );
  }

  /** Sets the mode of a wallet, and opens the wallet if needed. */
  setWalletMode(
    accountId: string,
    currency: string,
    mode: WalletMode,
    options?: CallOptions,
  ): Promise<Wallet> {
    return this.#transport.put(path`/accounts/${accountId}/wallets/${currency}`, { mode }, options);
  }

  /** Adds a credit to a wallet. A repeated request with the same key adds nothing. */
  credit(
    accountId: string,
    currency: string,
    credit: CreateCreditBody,
    options: CallOptions & { readonly idempotencyKey: string },
  ): Promise<Credit> {
    return this.#transport.post(path`/accounts/${accountId}/wallets/${currency}/credits`, credit, options);
  }

  /** Newest first, each with its remaining amount. */
  credits(
    accountId: string,
    currency: string,
    page: PageOptions = {},
    options?: CallOptions,
  ): Promise<CreditList> {
    return this.#transport.get(path`/accounts/${accountId}/wallets/${currency}/credits`, page, options);
  }

  /** Corrects a wallet by hand, up or down. */
  adjust(
    accountId: string,
    currency: string,
    adjustment: CreateAdjustmentBody,
    options?: WriteOptions,
  ): Promise<Adjustment> {
    const rest = path`/accounts/${accountId}/wallets/${currency}/adjustments`;
    return this.#transport.post(rest, adjustment, options);
  }

  /** Returns one page of ledger lines, newest first. */
  ledger(accountId: string, query: LedgerQuery = {}, options?: CallOptions): Promise<LedgerPage> {
    return this.#transport.get(path`/accounts/${accountId}/ledger`, query, options);
  }

  /** Yields every matching ledger line, page after page, newest first. */
  allLedgerEntries(
    accountId: string,
    query: Omit<LedgerQuery, 'cursor'> = {},
    options?: CallOptions,
  ): AsyncGenerator<LedgerEntry, void> {
    return everyEntry(
      (cursor) => this.ledger(accountId, { ...query, ...cursor }, options),
      (page) => page.entries,
    );
  }

  #wallets(accountId: string, query: WalletsQuery, options?: CallOptions): Promise<WalletList> {
    return this.#transport.get(path`/accounts/${accountId}/wallets`, query, options);
  }
}
