import { LEDGER_ACCOUNTS, type LedgerPage, type LedgerQuery, LIST_LIMIT_DEFAULT } from '@tollgate/contract';
import { type CursorQuery, invalidCursor, ListCursors } from '../../kernel/cursor.js';
import type { ProjectScope } from '../../kernel/scope.js';
import { type Postgres, ProjectDb } from '../../platform/postgres/index.js';
import { amountFromText, amountText } from './amount.js';
import { type LedgerPosition, listLines, type StoredLine } from './ledger-store.js';

const ID_PREFIX = 'led_';
const ID_BYTES = 16;
const CURSORS = new ListCursors('ledger', ID_BYTES + 1);

/**
 * Returns one page of an account's lines, newest first.
 *
 * @throws DomainError `invalid_request` for a cursor of another list
 */
export async function listLedger(
  { db }: Pick<Postgres, 'db'>,
  scope: ProjectScope,
  accountId: string,
  { limit = LIST_LIMIT_DEFAULT, cursor, currency, kind, ledger_account: ledgerAccount }: LedgerQuery,
): Promise<LedgerPage> {
  const filter = { currency, kind, ledgerAccount };
  const query = [scope.tenantId, scope.projectId, accountId, currency, kind, ledgerAccount];
  const after = cursor === undefined ? undefined : decodeEntryCursor(cursor, query);
  if (cursor !== undefined && after === undefined) throw invalidCursor();
  const lines = await listLines(new ProjectDb(db, scope), accountId, filter, after, limit + 1);
  const shown = lines.slice(0, limit);
  const last = lines.length > limit ? shown.at(-1) : undefined;
  return {
    entries: shown.map(toEntry),
    next_cursor:
      last === undefined
        ? null
        : encodeEntryCursor(
            { transactionId: last.transaction_id, ledgerAccount: last.ledger_account },
            query,
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

export function encodeEntryCursor(
  { transactionId, ledgerAccount }: LedgerPosition,
  query: CursorQuery,
): string {
  const id = Buffer.from(transactionId.slice(ID_PREFIX.length), 'hex');
  return CURSORS.encode(Buffer.concat([id, Buffer.of(LEDGER_ACCOUNTS.indexOf(ledgerAccount))]), query);
}

/** The line that was shown last; undefined when the cursor is not one of this query. */
export function decodeEntryCursor(cursor: string, query: CursorQuery): LedgerPosition | undefined {
  const position = CURSORS.decode(cursor, query);
  if (position === undefined) return undefined;
  const ledgerAccount = LEDGER_ACCOUNTS[position.readUInt8(ID_BYTES)];
  if (ledgerAccount === undefined) return undefined;
  return { transactionId: `${ID_PREFIX}${position.toString('hex', 0, ID_BYTES)}`, ledgerAccount };
}
