import { LOSSES_LISTED_MAX, type LossRecount } from '@tollgate/contract';
import { DAY_S } from '@tollgate/timezone';
import type { KnownLoss } from '../losses/index.js';
import { type ComparedMeasure, dayKey, dayText, type Measurement, type ProjectDay } from './compare.js';

/** Each row changes one of these counts by one, or none. */
const STATUS_COUNTS: ReadonlySet<ComparedMeasure> = new Set([
  'processed_count',
  'failed_count',
  'voided_count',
]);

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
    const days = new Map<string, { readonly day: ProjectDay; rows: number }>();
    if (this.#ofHistory.size === 0) return new Set();
    for (const each of [...expected, ...found]) {
      const rows = this.#rowsOf(each);
      if (rows > 0) days.set(dayKey(each), { day: each, rows });
    }
    const explained = new Set<string>();
    for (const [key, { day, rows }] of days) {
      const counts = missingOf(key, expected, found);
      if (counts.events + counts.corrections === 0 || counts.events > rows || counts.corrections > rows)
        continue;
      explained.add(key);
      this.#days.add(key);
      this.#lastDays.set(day.projectId, Math.max(day.day, this.#lastDays.get(day.projectId) ?? 0));
    }
    return explained;
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

function missingOf(key: string, expected: readonly Measurement[], found: readonly Measurement[]) {
  const missing = new Map<ComparedMeasure, number>();
  for (const [measurements, sign] of [
    [expected, 1],
    [found, -1],
  ] as const) {
    for (const each of measurements) {
      if (dayKey(each) !== key) continue;
      missing.set(each.measure, (missing.get(each.measure) ?? 0) + sign * Number(each.value));
    }
  }
  let events = 0;
  for (const measure of STATUS_COUNTS) events += Math.abs(missing.get(measure) ?? 0);
  return { events, corrections: Math.abs(missing.get('correction_count') ?? 0) };
}
