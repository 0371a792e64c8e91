import type { Account } from '@tollgate/contract';
import type { ListPage, Page } from '../../kernel/page.js';
import type { ProjectDb, ProjectTx } from '../../platform/postgres/index.js';

const COLUMNS = ['id', 'tenant_id', 'project_id', 'name', 'external_id', 'created_at'] as const;

/** Inserts an account, unless another one of the project has its external id; returns whether it did. */
export async function insertAccount(tx: ProjectTx, account: Account): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insert('accounts', account)
    .onConflict((on) =>
      on.columns(['project_id', 'external_id']).where('external_id', 'is not', null).doNothing(),
    )
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** Returns the id of the account with an external id. */
export async function findAccountId(tx: ProjectTx, externalId: string): Promise<string | undefined> {
  const row = await tx
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
