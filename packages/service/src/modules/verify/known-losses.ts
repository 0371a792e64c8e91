import { LOSSES_LISTED_MAX, type LossRecount } from '@tollgate/contract';
import { DAY_S } from '@tollgate/timezone';
import { dayText } from '../../kernel/day-text.js';
import { memoized } from '../../kernel/maps.js';
import type { KnownLoss } from '../losses/index.js';
import { type ComparedMeasure, dayKey, type Measurement, type ProjectDay } from './compare.js';

/** Each row changes one of these counts by one, or none. */
const STATUS_COUNTS: ReadonlySet<ComparedMeasure> = new Set([
  'processed_count',
  'failed_count',
  'voided_count',
]);

/** A day, with the number of its rows that may be among those that were given up, and what is missing. */
interface LossyDay {
  readonly day: ProjectDay;
  readonly rows: number;
  readonly missing: Map<ComparedMeasure, number>;
}

/** The rows of the history that were given up, and the days that lack some of them. */
export class KnownLosses {
  readonly #losses: readonly KnownLoss[];
  readonly #ofHistory = new Map<string, KnownLoss[]>();
  readonly #days = new Set<string>();
  readonly #lastDays = new Map<string, number>();

  constructor(losses: readonly KnownLoss[]) {
    this.#losses = losses;
    for (const loss of losses) {
      if (loss.kind === 'received') continue;
      this.#ofHistory.set(loss.projectId, [...(this.#ofHistory.get(loss.projectId) ?? []), loss]);
    }
  }

  /**
   * Returns the keys of those days on which the history lacks events that can be the ones that were given up. More
   * missing events than these, or other differences, are not explained.
   */
  explainedDays(expected: readonly Measurement[], found: readonly Measurement[]): Set<string> {
    const explained = new Set<string>();
    if (this.#ofHistory.size === 0) return explained;
    for (const [key, { day, rows, missing }] of this.#lossyDays(expected, found)) {
      let events = 0;
      for (const measure of STATUS_COUNTS) events += Math.abs(missing.get(measure) ?? 0);
      const corrections = Math.abs(missing.get('correction_count') ?? 0);
      if (events + corrections === 0 || events > rows || corrections > rows) continue;
      explained.add(key);
      this.#days.add(key);
      this.#lastDays.set(day.projectId, Math.max(day.day, this.#lastDays.get(day.projectId) ?? 0));
    }
    return explained;
  }

  /** Returns the days, by their keys, with the number of rows that may be missing and what is missing. */
  #lossyDays(expected: readonly Measurement[], found: readonly Measurement[]) {
    const days = new Map<string, LossyDay>();
    const add = (each: Measurement, sign: 1 | -1) => {
      const { missing } = memoized(days, dayKey(each), () => {
        return { day: each, rows: this.#rowsOf(each), missing: new Map<ComparedMeasure, number>() };
      });
      missing.set(each.measure, (missing.get(each.measure) ?? 0) + sign * Number(each.value));
    };
    for (const each of expected) add(each, 1);
    for (const each of found) add(each, -1);
    return days;
  }

  /** Returns the time from which the history of a project lacks none of these rows, Unix seconds. */
  completeFromS(projectId: string): number {
    const lastDay = this.#lastDays.get(projectId);
    return lastDay === undefined ? 0 : (lastDay + 1) * DAY_S;
  }

  recount(): LossRecount {
    return {
      loss_count: this.#losses.length,
      days: this.#days.size,
      losses: this.#losses.slice(0, LOSSES_LISTED_MAX).map((loss) => ({
        ...{ tenant_id: loss.tenantId, project_id: loss.projectId, kind: loss.kind },
        ...{ object_key: loss.objectKey, event_count: loss.eventCount },
        first_day: loss.firstDay === undefined ? null : dayText(loss.firstDay),
        last_day: loss.lastDay === undefined ? null : dayText(loss.lastDay),
        given_up_at: Math.floor(loss.givenUpAtMs / 1_000),
        reason: loss.reason,
      })),
    };
  }

  /** Returns how many rows of the day can be among those that were given up. */
  #rowsOf({ projectId, day }: ProjectDay): number {
    let rows = 0;
    for (const { eventCount, firstDay = 0, lastDay = Number.POSITIVE_INFINITY } of this.#ofHistory.get(
      projectId,
    ) ?? [])
      if (firstDay <= day && day <= lastDay) rows += eventCount;
    return rows;
  }
}
