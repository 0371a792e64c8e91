import type { RowBinaryWriter } from '../usage/index.js';
import type { EventGroup } from './event.js';
import type { BatchTotals, TouchedProject } from './totals.js';

/** Rows of a batch that go to the same tables. */
export interface BatchSection {
  /** The number of the project whose own tables take the rows; null: the tables that projects share. */
  readonly dedicatedTo: number | null;
  readonly eventCount: number;
  readonly itemCount: number;
  readonly projects: readonly TouchedProject[];
  /** May share memory with the writer of the batch. */
  readonly rows: Buffer;
}

/** Bytes of a batch, `to` exclusive. */
interface Run {
  readonly from: number;
  to: number;
}

/** The rows of one project that has tables of its own. */
interface OwnRows {
  readonly projectId: string;
  readonly projectNo: number;
  readonly runs: Run[];
  eventCount: number;
  itemCount: number;
}

/**
 * Which rows of a batch go where. All are encoded one behind the other; only those that do not go to the shared tables are
 * noted, and cut out at the end: a batch without any of them is taken as it is.
 */
export class BatchSections {
  readonly #own = new Map<number, OwnRows>();

  /** Notes a row of a project that has tables of its own. */
  addOwn({ projectId, projectNo }: EventGroup, from: number, to: number, itemCount: number): void {
    let rows = this.#own.get(projectNo);
    if (rows === undefined) {
      rows = { projectId, projectNo, runs: [], eventCount: 0, itemCount: 0 };
      this.#own.set(projectNo, rows);
    }
    rows.eventCount++;
    rows.itemCount += itemCount;
    const last = rows.runs.at(-1);
    if (last?.to === from) last.to = to;
    else rows.runs.push({ from, to });
  }

  /** Every row in one section; the shared ones first. */
  of(
    writer: Pick<RowBinaryWriter, 'bytes'>,
    eventCount: number,
    totals: Pick<BatchTotals, 'projects' | 'itemCount'>,
  ): BatchSection[] {
    const bytes = writer.bytes();
    const projects = totals.projects();
    const own = [...this.#own.values()];
    const sections = own.map((rows) => ({
      dedicatedTo: rows.projectNo,
      eventCount: rows.eventCount,
      itemCount: rows.itemCount,
      projects: projects.filter(({ projectId }) => projectId === rows.projectId),
      rows: joined(bytes, rows.runs),
    }));
    const sum = (count: (rows: OwnRows) => number) => own.reduce((total, rows) => total + count(rows), 0);
    const shared: BatchSection = {
      dedicatedTo: null,
      eventCount: eventCount - sum((rows) => rows.eventCount),
      itemCount: totals.itemCount - sum((rows) => rows.itemCount),
      projects: projects.filter(({ projectId }) => own.every((rows) => rows.projectId !== projectId)),
      rows: joined(
        bytes,
        gapsOf(
          own.flatMap(({ runs }) => runs),
          bytes.length,
        ),
      ),
    };
    return shared.eventCount === 0 ? sections : [shared, ...sections];
  }
}

/** What of `length` bytes no run covers. */
function gapsOf(runs: readonly Run[], length: number): Run[] {
  const gaps: Run[] = [];
  let end = 0;
  for (const { from, to } of [...runs].sort((a, b) => a.from - b.from)) {
    if (from > end) gaps.push({ from: end, to: from });
    end = to;
  }
  if (length > end) gaps.push({ from: end, to: length });
  return gaps;
}

/** Copies nothing where the runs are one. */
function joined(bytes: Buffer, runs: readonly Run[]): Buffer {
  const [first, ...others] = runs.map(({ from, to }) => bytes.subarray(from, to));
  if (first === undefined) return bytes.subarray(0, 0);
  return others.length === 0 ? first : Buffer.concat([first, ...others]);
}
