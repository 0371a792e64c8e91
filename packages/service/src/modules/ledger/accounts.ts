import type { Account, CreateAccountBody } from '@tollgate/contract';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { newId } from '../../kernel/id.js';
import { ApiError, type ChangeContext, type Page } from '../../platform/http/index.js';
import { isUniqueViolation, type Postgres, type Tx, transaction } from '../../platform/postgres/index.js';
import { audit } from '../tenancy/index.js';
import * as store from './account-store.js';
import type { LedgerScope } from './wallet-store.js';

/**
 * Opens a billing account, and says so in the audit log.
 *
 * @throws ApiError `external_id_taken`; the transaction is lost then
 */
export async function openAccount(
  tx: Tx,
  { project, principal, requestId }: ChangeContext,
  body: CreateAccountBody,
  clock: Clock,
): Promise<Account> {
  const { tenantId, projectId } = project;
  const account: Account = {
    id: newId('acct', clock),
    tenant_id: tenantId,
    project_id: projectId,
    name: body.name,
    external_id: body.external_id ?? null,
    created_at: unixSeconds(clock),
  };
  try {
    await store.insertAccount(tx, account);
  } catch (error) {
    if (isUniqueViolation(error, store.EXTERNAL_ID_INDEX)) throw new ApiError('external_id_taken');
    throw error;
  }
  await audit(tx, {
    tenantId,
    projectId,
    principal,
    action: 'account.create',
    resourceType: 'account',
    resourceId: account.id,
    change: body,
    requestId,
    atMs: clock.nowMs(),
  });
  return account;
}

export interface LedgerDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
}

/** Billing accounts: who pays. They are never changed nor deleted. */
export class AccountService {
  constructor(private readonly deps: LedgerDeps) {}

  /** @throws ApiError `external_id_taken` */
  create(caller: ChangeContext, body: CreateAccountBody): Promise<Account> {
    return transaction(this.deps.postgres, (tx) => openAccount(tx, caller, body, this.deps.clock));
  }

  /** @throws ApiError `not_found`, for another project's too */
  async get(scope: LedgerScope, id: string): Promise<Account> {
    const account = await store.findAccount(this.deps.postgres.db, scope, id);
    if (account === undefined) throw new ApiError('not_found');
    return account;
  }

  list(
    scope: LedgerScope,
    externalId: string | undefined,
    page: Page,
  ): Promise<{ accounts: Account[]; total: number }> {
    return store.listAccounts(this.deps.postgres.db, scope, externalId, page);
  }
}
