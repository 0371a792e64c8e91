import type { Clock } from '../../kernel/clock.js';
import { type Postgres, ProjectDb } from '../../platform/postgres/index.js';
import { type BlockReader, ProjectHistory, storageTables, type UsageHistory } from '../storage/index.js';
import { type EventRevisions, firstRevisions } from '../usage/index.js';
import type { OpenCorrection } from './correction.js';
import { type CorrectionPart, readParts } from './part-store.js';
import { type CorrectedSelection, type MatchingEvents, matchingPage } from './selection.js';

export interface StepRowsDeps {
  readonly postgres: Postgres;
  /** On a cluster, a replica may lack rows for a moment: to plan without them would be wrong. */
  readonly clickhouse: {
    upToDate(tables: readonly string[]): Promise<BlockReader>;
  };
  readonly history: UsageHistory;
  readonly clock: Clock;
  /** Overrides for tests. */
  readonly partEvents?: number;
  readonly partsPerStep?: number;
  readonly stepBytesMax?: number;
}

/** The next parts of a correction, and the revisions of their events. */
export interface PartRows {
  /** At least one; undefined for a part that was deleted, as the history of its events. */
  readonly parts: readonly (CorrectionPart | undefined)[];
  readonly revisions: EventRevisions;
}

/** The next events of a selection, and their revisions. */
export interface MatchingRows {
  readonly page: MatchingEvents;
  readonly revisions: EventRevisions;
}

/** Events of one part, which is applied in one transaction. */
const PART_EVENTS = 4_000;
/**
 * Parts that one step plans or changes. ClickHouse reads whole granules, in which events of other parts are; all rows
 * of the step are in memory together.
 */
const PARTS_PER_STEP = 3;
/** About the most that a step reads of ClickHouse at once; after that, it takes fewer events. */
const STEP_BYTES_MAX = 64 * 1_048_576;
/** After this time, rows that were read ahead are read again: their events may have changed. */
const AHEAD_MS_MAX = 10_000;

/** Returns the number of events of a part. */
export function partSize({ partEvents = PART_EVENTS }: Pick<StepRowsDeps, 'partEvents'>): number {
  return partEvents;
}

export async function historyOf(
  { clickhouse, history }: Pick<StepRowsDeps, 'clickhouse' | 'history'>,
  project: OpenCorrection['project'],
): Promise<ProjectHistory<BlockReader>> {
  const scope = await history.scopeOf(project);
  return new ProjectHistory(await clickhouse.upToDate([storageTables(scope).events]), scope);
}

/** Rows that are being read for a step that has not begun. */
interface RowsAhead {
  readonly correctionId: string;
  /** The status of the correction, and where the step begins: another step of it has another one of these. */
  readonly step: string;
  readonly rows: Promise<unknown>;
  readonly beganMs: number;
}

/**
 * Reads what steps of corrections need. While a step works, the rows of the next one of its correction are read, for
 * one correction at a time, because the rows of a step are many. A step must not rely on them being the newest: it
 * repeats itself when PostgreSQL knows of later revisions, and then they are read anew.
 */
export class StepRows {
  readonly #deps: StepRowsDeps;
  #ahead: RowsAhead | undefined;
  #beginNext: (() => void) | undefined;

  constructor(deps: StepRowsDeps) {
    this.#deps = deps;
  }

  /** Returns the next parts of a correction, as many as may be read at once. */
  async ofParts(correction: OpenCorrection): Promise<PartRows> {
    const { nextPart, partCount } = correction;
    const rows = await this.#take(correction, nextPart, () =>
      readPartRows(this.#deps, correction, nextPart, 'first part whole'),
    );
    const end = nextPart + rows.parts.length;
    const readAhead = () => readPartRows(this.#deps, correction, end, 'bounded');
    if (end < partCount) this.#beginNext = () => this.#begin(correction, end, readAhead);
    return rows;
  }

  /** Returns the next events that a correction may change, as many as may be read at once. */
  async ofPlan(correction: OpenCorrection, selection: CorrectedSelection): Promise<MatchingRows> {
    const { plannedUpTo } = correction;
    const read = (after: string | null) => () => readMatching(this.#deps, correction, selection, after);
    const rows = await this.#take(correction, plannedUpTo, read(plannedUpTo));
    const last = rows.page.ids.at(-1);
    if (!rows.page.isEnd && last !== undefined)
      this.#beginNext = () => this.#begin(correction, last, read(last));
    return rows;
  }

  /**
   * Begins to read the rows of the step after the last one. A step calls this once it is sure not to wait: one that
   * waits is repeated several times a second, and each time would ask a busy ClickHouse for rows that nobody uses.
   */
  readNext(): void {
    this.#beginNext?.();
    this.#beginNext = undefined;
  }

  #take<Rows>(
    correction: OpenCorrection,
    from: number | string | null,
    read: () => Promise<Rows>,
  ): Promise<Rows> {
    this.#beginNext = undefined;
    const ahead = this.#ahead;
    if (ahead?.correctionId !== correction.id) return read();
    this.#ahead = undefined;
    if (ahead.step !== stepOf(correction, from) || this.#isOld(ahead)) return read();
    return (ahead.rows as Promise<Rows>).catch(read);
  }

  #begin(correction: OpenCorrection, from: number | string, read: () => Promise<unknown>): void {
    if (this.#ahead !== undefined && !this.#isOld(this.#ahead)) return;
    const rows = read();
    // The step reads them again, and meets the error.
    rows.catch(() => {});
    const beganMs = this.#deps.clock.nowMs();
    this.#ahead = { correctionId: correction.id, step: stepOf(correction, from), rows, beganMs };
  }

  #isOld({ beganMs }: RowsAhead): boolean {
    return Math.abs(this.#deps.clock.nowMs() - beganMs) > AHEAD_MS_MAX;
  }
}

function stepOf({ status }: OpenCorrection, from: number | string | null): string {
  return `${status} ${from}`;
}

/**
 * Reads the rows of the first part at least, which may be far more than those of a usual step: events may have been
 * corrected hundreds of times. Such rows are not in memory twice: read within the bound, they are an error.
 */
async function readPartRows(
  deps: StepRowsDeps,
  { id, partCount, project }: OpenCorrection,
  from: number,
  extent: 'first part whole' | 'bounded',
): Promise<PartRows> {
  const { postgres, partsPerStep = PARTS_PER_STEP, stepBytesMax = STEP_BYTES_MAX } = deps;
  const end = Math.max(Math.min(from + partsPerStep, partCount), from + 1);
  const found = await readParts(new ProjectDb(postgres.db, project), id, from, end);
  const ids = found.flatMap((part) => part.ids);
  const { revisions, idCount } = await firstRevisions(await historyOf(deps, project), ids, {
    bytesMax: stepBytesMax,
    idsMin: extent === 'bounded' ? 1 : (found[0]?.ids.length ?? 0),
  });
  const parts: (CorrectionPart | undefined)[] = [];
  let idsDone = 0;
  for (let no = from; no < end; no++) {
    const part = found.find((each) => each.no === no);
    idsDone += part?.ids.length ?? 0;
    if (idsDone > idCount) break;
    parts.push(part);
  }
  if (parts.length === 0) throw new Error('the rows of the next part are too many to be read ahead');
  return { parts, revisions };
}

async function readMatching(
  deps: StepRowsDeps,
  { action, project }: OpenCorrection,
  selection: CorrectedSelection,
  plannedUpTo: string | null,
): Promise<MatchingRows> {
  const { partsPerStep = PARTS_PER_STEP, stepBytesMax = STEP_BYTES_MAX } = deps;
  const history = await historyOf(deps, project);
  const found = await matchingPage(history, selection, { plannedUpTo }, partsPerStep * partSize(deps));
  const { revisions, idCount } = await firstRevisions(history, found.ids, {
    bytesMax: stepBytesMax,
    idsMin: 1,
    withoutJson: action === 'void',
  });
  const isWhole = idCount === found.ids.length;
  const page = isWhole ? found : { ...found, ids: found.ids.slice(0, idCount), isEnd: false };
  return { page, revisions };
}
