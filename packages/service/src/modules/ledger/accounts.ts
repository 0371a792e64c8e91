import {
  type Account,
  type CreateAccountBody,
  METADATA_BYTES_MAX,
  type UpdateAccountBody,
} from '@tollgate/contract';
import { isTimezone } from '@tollgate/timezone';
import type { ChangeContext } from '../../kernel/change-context.js';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { DomainError, invalidRequest } from '../../kernel/errors.js';
import { newId } from '../../kernel/id.js';
import type { ListPage, Page } from '../../kernel/page.js';
import type { ProjectScope } from '../../kernel/scope.js';
import {
  isUniqueViolation,
  type Postgres,
  ProjectDb,
  ProjectTx,
  type Tx,
  transaction,
} from '../../platform/postgres/index.js';
import { audit } from '../tenancy/index.js';
import * as store from './account-store.js';

/**
 * Opens a billing account, with an audit entry.
 *
 * @throws DomainError `external_id_taken`
 */
export async function openAccount(
  tx: Tx,
  caller: ChangeContext,
  body: CreateAccountBody,
  clock: Clock,
): Promise<Account> {
  const { project } = caller;
  const { tenantId, projectId } = project;
  const account: Account = {
    id: newId('acct', clock),
    tenant_id: tenantId,
    project_id: projectId,
    name: body.name,
    external_id: body.external_id ?? null,
    timezone: body.timezone ?? 'UTC',
    anchor: body.anchor ?? unixSeconds(clock),
    metadata: body.metadata ?? {},
    created_at: unixSeconds(clock),
  };
  checkSettings(account);
  const own = new ProjectTx(tx, project);
  if (!(await store.insertAccount(own, account))) throw await externalIdTaken(own, account.external_id);
  await auditAccount(tx, caller, { verb: 'create', id: account.id, change: body }, clock);
  return account;
}

function auditAccount(
  tx: Tx,
  { project: { tenantId, projectId }, principal, requestId }: ChangeContext,
  { verb, id, change }: { readonly verb: 'create' | 'update'; readonly id: string; readonly change: object },
  clock: Clock,
): Promise<void> {
  const what = { action: `account.${verb}`, resourceType: 'account', resourceId: id, change } as const;
  return audit(tx, { tenantId, projectId, principal, requestId, atMs: clock.nowMs(), ...what });
}

/** @throws DomainError `invalid_request` naming the field */
function checkSettings({ timezone, metadata }: Account): void {
  if (!isTimezone(timezone)) throw invalidRequest('timezone', 'expected the name of an IANA timezone');
  const bytes = Buffer.byteLength(JSON.stringify(metadata));
  if (bytes > METADATA_BYTES_MAX) {
    throw invalidRequest(
      'metadata',
      `expected at most ${METADATA_BYTES_MAX} bytes (METADATA_BYTES_MAX), found ${bytes}`,
    );
  }
}

async function externalIdTaken(db: ProjectDb, externalId: string | null): Promise<DomainError> {
  if (externalId === null) throw new Error('an account without an external id was not inserted');
  const id = await store.findAccountId(db, externalId);
  if (id === undefined) throw new Error('the account with this external id was not found');
  return new DomainError('external_id_taken', {
    message: `Another account of the project has this external_id: ${id}.`,
    details: [{ path: 'external_id', message: `already used by the account ${id}`, account_id: id }],
  });
}

export interface LedgerDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
  /** Called first in the transaction that changes an account, for those who cache it; by default nobody does. */
  readonly beforeAccountChange?: (tx: ProjectTx) => Promise<void>;
}

/** Billing accounts: who pays. They are never deleted. */
export class AccountService {
  readonly #deps: LedgerDeps;

  constructor(deps: LedgerDeps) {
    this.#deps = deps;
  }

  /** @throws DomainError `external_id_taken` */
  create(caller: ChangeContext, body: CreateAccountBody): Promise<Account> {
    return transaction(this.#deps.postgres, (tx) => openAccount(tx, caller, body, this.#deps.clock));
  }

  /**
   * Changes the fields that are sent. An account's currency and money are not among them.
   *
   * @throws DomainError `not_found`, `external_id_taken`, `invalid_request`
   */
  async update(caller: ChangeContext, id: string, body: UpdateAccountBody): Promise<Account> {
    const { postgres, clock, beforeAccountChange } = this.#deps;
    const work = async (tx: Tx) => {
      const own = new ProjectTx(tx, caller.project);
      await beforeAccountChange?.(own);
      const former = await store.lockAccount(own, id);
      if (former === undefined) throw new DomainError('not_found');
      const account: Account = { ...former, ...body };
      checkSettings(account);
      await store.updateAccount(own, account);
      await auditAccount(tx, caller, { verb: 'update', id, change: body }, clock);
      return account;
    };
    try {
      return await transaction(postgres, work);
    } catch (error) {
      if (!isUniqueViolation(error, store.ACCOUNTS_BY_EXTERNAL_ID)) throw error;
      throw await externalIdTaken(new ProjectDb(postgres.db, caller.project), body.external_id ?? null);
    }
  }

  /** @throws DomainError `not_found`, also for an account of another project */
  async get(scope: ProjectScope, id: string): Promise<Account> {
    const account = await store.findAccount(new ProjectDb(this.#deps.postgres.db, scope), id);
    if (account === undefined) throw new DomainError('not_found');
    return account;
  }

  list(scope: ProjectScope, externalId: string | undefined, page: Page): Promise<ListPage<Account>> {
    return store.listAccounts(new ProjectDb(this.#deps.postgres.db, scope), externalId, page);
  }
}
