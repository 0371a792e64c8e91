import type { Account } from '@tollgate/contract';
import { sql } from 'kysely';
import type { Page } from '../../platform/http/index.js';
import type { Db, Tx } from '../../platform/postgres/index.js';
import type { LedgerScope } from './wallet-store.js';

/** Name of the index that two accounts with the same external id would break. */
export const EXTERNAL_ID_INDEX = 'accounts_by_external_id';

const COLUMNS = ['id', 'tenant_id', 'project_id', 'name', 'external_id', 'created_at'] as const;

export async function insertAccount(tx: Tx, account: Account): Promise<void> {
  await tx.insertInto('accounts').values(account).execute();
}

export async function findAccount(db: Db, scope: LedgerScope, id: string): Promise<Account | undefined> {
  return db
    .selectFrom('accounts')
    .select(COLUMNS)
    .where('tenant_id', '=', scope.tenantId)
    .where('project_id', '=', scope.projectId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Oldest first. */
export async function listAccounts(
  db: Db,
  scope: LedgerScope,
  externalId: string | undefined,
  { limit, offset }: Page,
): Promise<{ accounts: Account[]; total: number }> {
  const isAsked = sql<boolean>`tenant_id = ${scope.tenantId} and project_id = ${scope.projectId}
    ${externalId === undefined ? sql`` : sql`and external_id = ${externalId}`}`;
  const accounts = await db
    .selectFrom('accounts')
    .select(COLUMNS)
    .where(isAsked)
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute();
  const { total } = await db
    .selectFrom('accounts')
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .where(isAsked)
    .executeTakeFirstOrThrow();
  return { accounts, total };
}
