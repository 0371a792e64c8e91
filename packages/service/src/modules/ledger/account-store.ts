import type { Account } from '@tollgate/contract';
import { sql } from 'kysely';
import type { ListPage, Page } from '../../kernel/page.js';
import type { ProjectDb, ProjectTx } from '../../platform/postgres/index.js';

const COLUMNS = [
  ...(['id', 'tenant_id', 'project_id', 'name', 'external_id', 'timezone', 'created_at'] as const),
  sql<number>`coalesce(anchor, created_at)`.as('anchor'),
  sql<Account['metadata']>`metadata`.as('metadata'),
] as const;

export const ACCOUNTS_BY_EXTERNAL_ID = 'accounts_by_external_id';

/** Inserts an account, unless another one of the project has its external id; returns whether it did. */
export async function insertAccount(tx: ProjectTx, account: Account): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insert('accounts', valuesOf(account))
    .onConflict((on) =>
      on.columns(['project_id', 'external_id']).where('external_id', 'is not', null).doNothing(),
    )
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** @throws a unique violation of `ACCOUNTS_BY_EXTERNAL_ID` if another account has its external id */
export async function updateAccount(tx: ProjectTx, account: Account): Promise<void> {
  const { id, created_at: _created, ...values } = valuesOf(account);
  await tx.update('accounts', values).where('id', '=', id).execute();
}

/** Returns an account and locks it until the transaction ends. */
export async function lockAccount(tx: ProjectTx, id: string): Promise<Account | undefined> {
  return tx.selectFrom('accounts').select(COLUMNS).where('id', '=', id).forUpdate().executeTakeFirst();
}

function valuesOf({ id, name, external_id, timezone, anchor, metadata, created_at }: Account) {
  return { id, name, external_id, timezone, anchor, metadata: JSON.stringify(metadata), created_at };
}

/** Returns the id of the account with an external id. */
export async function findAccountId(db: ProjectDb, externalId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('accounts')
    .select('id')
    .where('external_id', '=', externalId)
    .executeTakeFirst();
  return row?.id;
}

export async function findAccount(db: ProjectDb, id: string): Promise<Account | undefined> {
  return db.selectFrom('accounts').select(COLUMNS).where('id', '=', id).executeTakeFirst();
}

/** Returns accounts, oldest first. */
export async function listAccounts(
  db: ProjectDb,
  externalId: string | undefined,
  { limit, offset }: Page,
): Promise<ListPage<Account>> {
  const all = db.selectFrom('accounts');
  const asked = externalId === undefined ? all : all.where('external_id', '=', externalId);
  const items = await asked.select(COLUMNS).orderBy('id').limit(limit).offset(offset).execute();
  const { total } = await asked
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { items, totalCount: total };
}
