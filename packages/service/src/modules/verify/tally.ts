import {
  VERIFY_DIFFERENCES_MAX,
  VERIFY_TOTALS_MAX,
  type VerifyDifference,
  type VerifyReport,
  type VerifyTotal,
} from '@tollgate/contract';
import { dayText } from '../../kernel/day-text.js';
import { add, type Decimal, toText, ZERO } from '../../kernel/decimal.js';
import { compareDays, decimalOf, type Measurement, type ProjectDay } from './compare.js';

/** A day that could not be compared, and why. */
export type OpenDay = ProjectDay & Pick<VerifyReport['unsettled'][number], 'reason'>;

/** The findings so far of one verification. */
export class Tally {
  /** Number of project days that were judged. */
  days = 0;
  #compared = 0;
  #differenceCount = 0;
  readonly #differences: VerifyDifference[] = [];
  readonly #unsettled: VerifyReport['unsettled'] = [];
  #isUnsettled = false;
  readonly #totals = new Map<string, VerifyTotal & { sum: Decimal }>();

  add(store: string, expected: readonly Measurement[], found: readonly Measurement[]): void {
    const { compared, differences } = compareDays(store, expected, found);
    this.#compared += compared;
    this.#differenceCount += differences.length;
    this.#differences.push(...differences.slice(0, VERIFY_DIFFERENCES_MAX - this.#differences.length));
  }

  /** Adds days that were judged to the sums over all days. */
  addTotals(measurements: readonly Measurement[]): void {
    for (const { tenantId, projectId, metric, unit, currency, measure, value } of measurements) {
      const key = JSON.stringify([tenantId, projectId, metric, unit, currency, measure]);
      const sum = add(this.#totals.get(key)?.sum ?? ZERO, decimalOf(value));
      const place = { tenant_id: tenantId, project_id: projectId, metric, unit, currency, measure };
      this.#totals.set(key, { ...place, value: toText(sum), sum });
    }
  }

  leaveOpen(days: readonly OpenDay[]): void {
    this.#isUnsettled ||= days.length > 0;
    const listed = days.slice(0, VERIFY_DIFFERENCES_MAX - this.#unsettled.length);
    this.#unsettled.push(
      ...listed.map(({ projectId, day, reason }) => ({ project_id: projectId, day: dayText(day), reason })),
    );
  }

  report(
    recounts: Pick<
      VerifyReport,
      'ledger' | 'reservations' | 'postings' | 'counters' | 'quotas' | 'purchases' | 'ingest'
    >,
    losses: VerifyReport['losses'],
    durationMs: number,
  ): VerifyReport {
    const differenceCount = Object.values(recounts).reduce(
      (sum, { difference_count }) => sum + difference_count,
      this.#differenceCount,
    );
    const settledStatus = this.#isUnsettled ? 'unsettled' : 'equal';
    return {
      status: differenceCount > 0 ? 'different' : settledStatus,
      days_compared: this.days,
      values_compared: this.#compared,
      difference_count: this.#differenceCount,
      differences: this.#differences,
      unsettled: this.#unsettled,
      totals: [...this.#totals.values()].slice(0, VERIFY_TOTALS_MAX).map(({ sum: _sum, ...total }) => total),
      ...recounts,
      losses,
      duration_ms: durationMs,
    };
  }
}
