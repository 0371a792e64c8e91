import { setTimeout as delay } from 'node:timers/promises';
import type { ClickHouse, ConfirmInsert } from './port.js';

/** Bytes are sent for so long after a confirmation. */
export const CONFIRMED_MS_MAX = 5_000;
/** Upper bound of the bytes that are sent at once. */
const PIECE_BYTES_MAX = 1_048_576;
const POLL_MS = 100;

/**
 * Passes bytes on while they may be inserted: asks before the first of them, and again whenever the last question is
 * older than `CONFIRMED_MS_MAX`. So a process that was frozen asks before it goes on.
 *
 * @param nowMs a clock that never goes back
 * @throws the error of `confirm`
 */
export async function* confirmedPieces(
  pieces: AsyncIterable<Buffer>,
  confirm: ConfirmInsert,
  nowMs = () => performance.now(),
): AsyncGenerator<Buffer> {
  let askedMs = Number.NEGATIVE_INFINITY;
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; at += PIECE_BYTES_MAX) {
      while (nowMs() - askedMs > CONFIRMED_MS_MAX) {
        askedMs = nowMs();
        await confirm();
      }
      yield piece.subarray(at, at + PIECE_BYTES_MAX);
    }
  }
}

/**
 * Waits until every insert that runs now has ended, however it ends. Later inserts do not prolong the wait.
 *
 * @param processes text for FROM: the statements that ClickHouse runs in this database
 */
export async function untilInsertsEnd(
  clickhouse: Pick<ClickHouse, 'query'>,
  processes: string,
): Promise<void> {
  const running = (condition: string, ids: readonly string[] = []) =>
    clickhouse.query<{ id: string }>(
      `SELECT query_id AS id FROM ${processes} WHERE query_kind IN ('Insert', 'AsyncInsertFlush') AND ${condition}`,
      { ids },
    );
  let ids = (await running('true')).map(({ id }) => id);
  while (ids.length > 0) {
    await delay(POLL_MS);
    ids = (await running('query_id IN {ids:Array(String)}', ids)).map(({ id }) => id);
  }
}
