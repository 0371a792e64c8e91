import type { Account } from '@tollgate/contract';
import { sql } from 'kysely';
import type { Page } from '../../kernel/page.js';
import type { Db, Tx } from '../../platform/postgres/index.js';
import type { LedgerScope } from './wallet-store.js';

const COLUMNS = ['id', 'tenant_id', 'project_id', 'name', 'external_id', 'created_at'] as const;

/** Inserts nothing where another account of the project has the external id; returns whether it did. */
export async function insertAccount(tx: Tx, account: Account): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('accounts')
    .values(account)
    .onConflict((on) =>
      on.columns(['project_id', 'external_id']).where('external_id', 'is not', null).doNothing(),
    )
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** Id of the account that has an external id. */
export async function findAccountId(
  tx: Tx,
  { tenantId, projectId }: LedgerScope,
  externalId: string,
): Promise<string | undefined> {
  const row = await tx
    .selectFrom('accounts')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('project_id', '=', projectId)
    .where('external_id', '=', externalId)
    .executeTakeFirst();
  return row?.id;
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
