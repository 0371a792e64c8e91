import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Pieces } from '../kernel/pieces.js';

/** A thread that answers requests works on one of them no longer than this, and a piece, without letting the others pass. */
const TURN_MS_MAX = 4;

/** Does all pieces, and gives the thread back whenever it has held it for a turn. */
export async function inTurns<Result>(
  pieces: Pieces<Result>,
  nowMs = () => performance.now(),
): Promise<Result> {
  let startedMs = nowMs();
  for (;;) {
    const { done, value } = pieces.next();
    if (done) return value;
    if (nowMs() - startedMs < TURN_MS_MAX) continue;
    await nextTurn();
    startedMs = nowMs();
  }
}
