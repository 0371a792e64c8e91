import { createHash } from 'node:crypto';
import { LEDGER_ACCOUNTS } from '@tollgate/contract';
import type { LedgerPosition } from './ledger-store.js';

const ID_PREFIX = 'led_';
const ID_BYTES = 16;
const CHECK_BYTES = 8;

/** The query of a list; a filter that is not set is undefined. */
type Question = readonly (string | undefined)[];

/**
 * Encodes a cursor of the ledger: the last line that was shown, and a checksum of the query. The checksum keeps nothing
 * secret. It refuses a cursor that was mistyped, or is used with another account or other filters, where lines would be
 * skipped without notice.
 */
export function encodeEntryCursor(
  { transactionId, ledgerAccount }: LedgerPosition,
  question: Question,
): string {
  const position = Buffer.concat([
    Buffer.from(transactionId.slice(ID_PREFIX.length), 'hex'),
    Buffer.of(LEDGER_ACCOUNTS.indexOf(ledgerAccount)),
  ]);
  return Buffer.concat([position, check(position, question)]).toString('base64url');
}

/** Returns undefined for a cursor that was not made for this query. */
export function decodeEntryCursor(cursor: string, question: Question): LedgerPosition | undefined {
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.length !== ID_BYTES + 1 + CHECK_BYTES || bytes.toString('base64url') !== cursor) return undefined;
  const position = bytes.subarray(0, ID_BYTES + 1);
  const ledgerAccount = LEDGER_ACCOUNTS[position.readUInt8(ID_BYTES)];
  if (ledgerAccount === undefined || !check(position, question).equals(bytes.subarray(ID_BYTES + 1))) {
    return undefined;
  }
  return { transactionId: `${ID_PREFIX}${position.toString('hex', 0, ID_BYTES)}`, ledgerAccount };
}

function check(position: Buffer, question: Question): Buffer {
  const hash = createHash('sha256').update('ledger cursor').update(position);
  return hash.update(JSON.stringify(question)).digest().subarray(0, CHECK_BYTES);
}
