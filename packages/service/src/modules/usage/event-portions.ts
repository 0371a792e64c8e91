import { present } from '../../kernel/present.js';
import type { ProjectHistory } from '../storage/index.js';
import { type Candidates, eventsById, type StoredEvent } from './event-store.js';

/** Upper bound of the dimensions that are read at once, but at least one event. */
const PORTION_BYTES_MAX = 4 * 1_048_576;
/**
 * Upper bound of the rows that are read at once, but at least one event: an event's current row can have more
 * dimensions than the row that matched, and many charge items. A request holds a few times this in memory.
 */
const READ_BYTES_MAX = 16 * 1_048_576;

/** Events that were read at once. */
export interface EventPortion {
  /** The current row of each, newest first. */
  readonly events: readonly StoredEvent[];
  /** The last of them, in the order of the candidates. */
  readonly lastId: string;
}

/** Yields the current rows of candidates, in portions of bounded size; each is read when it is needed. */
export async function* eventPortions(
  history: ProjectHistory,
  candidates: Candidates,
): AsyncGenerator<EventPortion, undefined> {
  for (const ids of portionsOf(candidates)) yield* readPortion(history, ids);
}

/** Yields portions of a page, nearly always the whole page: few events have dimensions of many bytes. */
function* portionsOf({ ids, bytes }: Candidates): Generator<string[], undefined> {
  let portion: string[] = [];
  let portionBytes = 0;
  for (const id of ids) {
    const more = bytes.get(id) ?? 0;
    if (portion.length > 0 && portionBytes + more > PORTION_BYTES_MAX) {
      yield portion;
      portion = [];
      portionBytes = 0;
    }
    portion.push(id);
    portionBytes += more;
  }
  if (portion.length > 0) yield portion;
}

/** Reads one portion, in halves where its current rows are too large. */
async function* readPortion(
  history: ProjectHistory,
  ids: readonly string[],
): AsyncGenerator<EventPortion, undefined> {
  const events = await eventsById(history, ids, READ_BYTES_MAX);
  if (events !== undefined) {
    yield { events, lastId: present(ids.at(-1), 'the last event of a portion') };
    return;
  }
  const half = Math.ceil(ids.length / 2);
  yield* readPortion(history, ids.slice(0, half));
  yield* readPortion(history, ids.slice(half));
}
