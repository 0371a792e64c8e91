import {
  Account,
  AccountList,
  AccountListQuery,
  AccountParams,
  CreateAccountBody,
  ErrorBodySchema,
  LedgerPage,
  LedgerQuery,
  LISTED_WALLETS_MAX,
  type ListedAccount,
  ProjectParams,
  UpdateAccountBody,
} from '@tollgate/contract';
import { groupBy } from '../../kernel/maps.js';
import type { ProjectScope } from '../../kernel/scope.js';
import { type App, contextOf, pageOf } from '../../platform/http/index.js';
import { type Postgres, ProjectDb } from '../../platform/postgres/index.js';
import type { AccountService } from './accounts.js';
import { listLedger } from './ledger-list.js';
import { walletAnswer } from './wallet-routes.js';
import { listFirstWallets } from './wallet-store.js';

export interface AccountRouteDeps {
  readonly postgres: Postgres;
  readonly accounts: AccountService;
}

const tags = ['Wallets'];
const toRead = { access: { kind: 'project', permission: 'wallets:read' } } as const;
const toWrite = { access: { kind: 'project', permission: 'wallets:write' } } as const;

/** Registers the routes of accounts and their ledger. */
export function registerAccountRoutes(app: App, deps: AccountRouteDeps): void {
  registerAccounts(app, deps);
  registerAccountList(app, deps);
  registerLedger(app, deps);
}

function registerAccounts(app: App, { accounts }: AccountRouteDeps): void {
  app.route({
    method: 'POST',
    url: '/v1/projects/:project_id/accounts',
    config: toWrite,
    schema: {
      tags,
      summary: 'Create an account',
      description:
        'Creates an account. It pays for the usage of its subjects, and has a wallet for each currency. Subject ' +
        'routes assign subjects to it.',
      operationId: 'createAccount',
      params: ProjectParams,
      body: CreateAccountBody,
      response: { 201: Account, 409: ErrorBodySchema },
    },
    handler: async (request, reply) =>
      reply.code(201).send(await accounts.create(contextOf(request), request.body)),
  });
  app.route({
    method: 'GET',
    url: '/v1/projects/:project_id/accounts/:id',
    config: toRead,
    schema: {
      tags,
      summary: 'Read an account',
      description: 'One account by its id.',
      operationId: 'getAccount',
      params: AccountParams,
      response: { 200: Account },
    },
    handler: ({ project, params }) => accounts.get(project, params.id),
  });
  app.route({
    method: 'PUT',
    url: '/v1/projects/:project_id/accounts/:id',
    config: toWrite,
    schema: {
      tags,
      summary: 'Change an account',
      description:
        'Changes the fields that are sent. A new timezone or anchor applies to counters from their next period on.',
      operationId: 'updateAccount',
      params: AccountParams,
      body: UpdateAccountBody,
      response: { 200: Account, 409: ErrorBodySchema },
    },
    handler: (request) => accounts.update(contextOf(request), request.params.id, request.body),
  });
}

function registerAccountList(app: App, { accounts, postgres }: AccountRouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/projects/:project_id/accounts',
    config: toRead,
    schema: {
      tags,
      summary: 'List accounts',
      description: 'Oldest first. With `include=wallets`, balances are read with them.',
      operationId: 'listAccounts',
      params: ProjectParams,
      querystring: AccountListQuery,
      response: { 200: AccountList },
    },
    handler: async ({ project, query: { external_id: externalId, include, ...range } }) => {
      const page = pageOf(range);
      const { items, totalCount } = await accounts.list(project, externalId, page);
      const listed = include === 'wallets' ? await withWallets(postgres, project, items) : items;
      return { accounts: listed, total_count: totalCount, ...page };
    },
  });
}

/** Adds the first wallets to each of some accounts; one query reads all of them. */
async function withWallets(
  { db }: Pick<Postgres, 'db'>,
  scope: ProjectScope,
  accounts: readonly Account[],
): Promise<ListedAccount[]> {
  const ids = accounts.map(({ id }) => id);
  // One more than is shown tells whether there are more.
  const found = await listFirstWallets(new ProjectDb(db, scope), ids, LISTED_WALLETS_MAX + 1);
  const byAccount = groupBy(found, ({ accountId }) => accountId);
  return accounts.map((account) => {
    const wallets = byAccount.get(account.id) ?? [];
    return {
      ...account,
      wallets: wallets.slice(0, LISTED_WALLETS_MAX).map(walletAnswer),
      has_more_wallets: wallets.length > LISTED_WALLETS_MAX,
    };
  });
}

function registerLedger(app: App, { accounts, postgres }: AccountRouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/projects/:project_id/accounts/:id/ledger',
    config: toRead,
    schema: {
      tags,
      summary: 'List ledger entries',
      description:
        'Returns every entry of the ledger transactions of an account, newest first. The entries of a transaction ' +
        'follow each other and add up to zero. With `ledger_account=wallet`, the entries are the statement of its ' +
        'wallets. To list the usage events of a `usage` transaction, use `GET ' +
        '…/usage/events?ledger_transaction_id=…`.',
      operationId: 'listLedger',
      params: AccountParams,
      querystring: LedgerQuery,
      response: { 200: LedgerPage },
    },
    handler: async ({ project, params, query }) => {
      await accounts.get(project, params.id);
      return listLedger(postgres, project, params.id, query);
    },
  });
}
