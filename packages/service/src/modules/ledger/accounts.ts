import type { Account, CreateAccountBody } from '@tollgate/contract';
import type { ChangeContext } from '../../kernel/change-context.js';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import { newId } from '../../kernel/id.js';
import type { ListPage, Page } from '../../kernel/page.js';
import type { ProjectScope } from '../../kernel/scope.js';
import { type Postgres, ProjectDb, ProjectTx, type Tx, transaction } from '../../platform/postgres/index.js';
import { audit } from '../tenancy/index.js';
import * as store from './account-store.js';

/**
 * Opens a billing account, with an audit entry.
 *
 * @throws DomainError `external_id_taken`
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
  const own = new ProjectTx(tx, project);
  if (!(await store.insertAccount(own, account))) throw await externalIdTaken(own, account);
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

async function externalIdTaken(tx: ProjectTx, { external_id: externalId }: Account): Promise<DomainError> {
  if (externalId === null) throw new Error('an account without an external id was not inserted');
  const id = await store.findAccountId(tx, externalId);
  if (id === undefined) throw new Error('the account with this external id was not found');
  return new DomainError('external_id_taken', {
    message: `Another account of the project has this external_id: ${id}.`,
    details: [{ path: 'external_id', message: `already used by the account ${id}`, account_id: id }],
  });
}

export interface LedgerDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
}

/** Billing accounts: who pays. They are never changed or deleted. */
export class AccountService {
  readonly #deps: LedgerDeps;

  constructor(deps: LedgerDeps) {
    this.#deps = deps;
  }

  /** @throws DomainError `external_id_taken` */
  create(caller: ChangeContext, body: CreateAccountBody): Promise<Account> {
    return transaction(this.#deps.postgres, (tx) => openAccount(tx, caller, body, this.#deps.clock));
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
