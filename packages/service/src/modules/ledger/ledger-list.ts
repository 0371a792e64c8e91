import { type LedgerPage, type LedgerQuery, LIST_LIMIT_DEFAULT } from '@tollgate/contract';
import { invalidRequest } from '../../kernel/errors.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { amountFromText, amountText } from './amount.js';
import { decodeEntryCursor, encodeEntryCursor } from './cursor.js';
import { listLines, type StoredLine } from './ledger-store.js';
import type { LedgerScope } from './wallet-store.js';

/**
 * Returns one page of an account's lines, newest first.
 *
 * @throws DomainError `invalid_request` for a cursor of another list
 */
export async function listLedger(
  { db }: Pick<Postgres, 'db'>,
  scope: LedgerScope,
  accountId: string,
  { limit = LIST_LIMIT_DEFAULT, cursor, currency, kind, ledger_account: ledgerAccount }: LedgerQuery,
): Promise<LedgerPage> {
  const filter = { currency, kind, ledgerAccount };
  const question = [scope.tenantId, scope.projectId, accountId, currency, kind, ledgerAccount];
  const after = cursor === undefined ? undefined : decodeEntryCursor(cursor, question);
  if (cursor !== undefined && after === undefined) {
    throw invalidRequest('cursor', 'expected the next_cursor of the previous page, with the same filters');
  }
  const lines = await listLines(db, scope, accountId, filter, after, limit + 1);
  const shown = lines.slice(0, limit);
  const last = lines.length > limit ? shown.at(-1) : undefined;
  return {
    entries: shown.map(toEntry),
    next_cursor:
      last === undefined
        ? null
        : encodeEntryCursor(
            { transactionId: last.transaction_id, ledgerAccount: last.ledger_account },
            question,
          ),
  };
}

function toEntry({ created_at_ms, amount, ...line }: StoredLine): LedgerPage['entries'][number] {
  return {
    ...line,
    amount: amountText(amountFromText(amount)),
    created_at: Math.floor(created_at_ms / 1_000),
  };
}
