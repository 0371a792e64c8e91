import {
  AccountParams,
  Adjustment,
  CreateAdjustmentBody,
  CreateCreditBody,
  Credit,
  CreditList,
  ErrorBodySchema,
  IdempotencyKeyHeaders,
  OptionalIdempotencyKeyHeaders,
  PageQuery,
  UpdateWalletBody,
  Wallet,
  WalletList,
  WalletParams,
  WalletsQuery,
} from '@tollgate/contract';
import { type App, contextOf, pageOf } from '../../platform/http/index.js';
import { amountField, amountText } from './amount.js';
import { availableIn, type WalletState } from './wallet.js';
import type { WalletCaller, WalletService } from './wallets.js';

export interface WalletRouteDeps {
  readonly wallets: WalletService;
}

const tags = ['Wallets'];
const toRead = { access: { kind: 'project', permission: 'wallets:read' } } as const;
const toWrite = { access: { kind: 'project', permission: 'wallets:write' } } as const;
const walletUrl = '/v1/projects/:project_id/accounts/:id/wallets/:currency';

/** Registers the routes of wallets, credits and adjustments. */
export function registerWalletRoutes(app: App, deps: WalletRouteDeps): void {
  registerWallets(app, deps);
  registerCredits(app, deps);
  registerAdjustments(app, deps);
}

function registerWallets(app: App, { wallets }: WalletRouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/projects/:project_id/accounts/:id/wallets',
    config: toRead,
    schema: {
      tags,
      summary: 'List the wallets of an account',
      description:
        'Returns the wallets in order of currency. A wallet is opened by the first usage, credit or adjustment in ' +
        'its currency, or by setting its mode.',
      operationId: 'listWallets',
      params: AccountParams,
      querystring: WalletsQuery,
      response: { 200: WalletList },
    },
    handler: async ({ project, params, query }) => {
      const page = await wallets.list(project, params.id, query);
      return { wallets: page.wallets.map(walletAnswer), next_cursor: page.nextCursor };
    },
  });
  app.route({
    method: 'PUT',
    url: walletUrl,
    config: toWrite,
    schema: {
      tags,
      summary: 'Set the mode of a wallet',
      description:
        'Sets the mode, and opens the wallet if it does not exist. When a wallet becomes prepaid, a balance below ' +
        'zero becomes `owed`; when it becomes postpaid, `owed` becomes a balance below zero. Ledger entries record ' +
        'both.',
      operationId: 'updateWallet',
      params: WalletParams,
      body: UpdateWalletBody,
      response: { 200: Wallet },
    },
    handler: async (request) => walletAnswer(await wallets.setMode(callerOf(request), request.body.mode)),
  });
}

function registerCredits(app: App, { wallets }: WalletRouteDeps): void {
  app.route({
    method: 'POST',
    url: `${walletUrl}/credits`,
    config: toWrite,
    schema: {
      tags,
      summary: 'Credit a wallet',
      description:
        'Adds to the balance; a prepaid wallet first pays what it owes. Usage consumes credits by priority, then ' +
        'by earliest expiry. The remaining amount is removed at `expires_at`.',
      operationId: 'createCredit',
      params: WalletParams,
      headers: IdempotencyKeyHeaders,
      body: CreateCreditBody,
      response: { 201: Credit, 409: ErrorBodySchema },
    },
    handler: async (request, reply) => {
      const { description, expires_at: expiresAt, priority } = request.body;
      const amount = amountField(request.rawBody, 'amount');
      const key = request.headers['idempotency-key'];
      const input = { amount, description, expiresAt, priority };
      return reply.code(201).send(await wallets.credit(callerOf(request), input, key));
    },
  });
  app.route({
    method: 'GET',
    url: `${walletUrl}/credits`,
    config: toRead,
    schema: {
      tags,
      summary: 'List the credits of a wallet',
      description:
        'Returns credits newest first, each with its remaining amount. Adjustments above 0 are also credits.',
      operationId: 'listCredits',
      params: WalletParams,
      querystring: PageQuery,
      response: { 200: CreditList },
    },
    handler: async ({ project, params, query }) => {
      const page = pageOf(query);
      const { tenantId, projectId } = project;
      const key = { tenantId, projectId, accountId: params.id, currency: params.currency };
      const { items, totalCount } = await wallets.listCredits(key, page);
      return { credits: items, total_count: totalCount, ...page };
    },
  });
}

function registerAdjustments(app: App, { wallets }: WalletRouteDeps): void {
  app.route({
    method: 'POST',
    url: `${walletUrl}/adjustments`,
    config: toWrite,
    schema: {
      tags,
      summary: 'Adjust a wallet',
      description:
        'Corrects the balance manually, with a reason. An amount above 0 becomes a credit that does not expire. An ' +
        'amount below 0 is deducted: from a prepaid wallet at most the available balance, from a postpaid wallet ' +
        'any amount.',
      operationId: 'createAdjustment',
      params: WalletParams,
      headers: OptionalIdempotencyKeyHeaders,
      body: CreateAdjustmentBody,
      response: { 201: Adjustment, 409: ErrorBodySchema },
    },
    handler: async (request, reply) => {
      const amount = amountField(request.rawBody, 'amount');
      const { reason } = request.body;
      const key = request.headers['idempotency-key'];
      return reply.code(201).send(await wallets.adjust(callerOf(request), { amount, reason }, key));
    },
  });
}

type WalletRequest = Parameters<typeof contextOf>[0] & {
  readonly params: { readonly id: string; readonly currency: string };
};

function callerOf(request: WalletRequest): WalletCaller {
  const { id: accountId, currency } = request.params;
  return { ...contextOf(request), accountId, currency };
}

/** Returns a wallet as the API shows it. */
export function walletAnswer(wallet: WalletState) {
  const { currency, mode, balance, owed, reserved, createdAt } = wallet;
  return {
    currency,
    mode,
    balance: amountText(balance),
    owed: amountText(owed),
    reserved: amountText(reserved),
    available: amountText(availableIn(wallet)),
    created_at: createdAt,
  };
}
