import {
  USAGE_ALERTS_PER_HOUR_MAX,
  USAGE_FAILED_EVENT,
  USAGE_UNPRICED_EVENT,
  type UsageAlertData,
  type UsageFailedData,
  type UsageUnpricedData,
} from '@tollgate/contract';
import { compareText } from '../../kernel/compare-text.js';
import { rawEventIdText } from '../../kernel/id.js';
import type { Tx } from '../../platform/postgres/index.js';
import type { UsageEventRow } from '../usage/index.js';
import { emit } from '../webhooks/index.js';
import { type AlertKey, alertKey, claimAlerts } from './alert-store.js';

const HOUR_MS = 3_600_000;

/** The alert of a batch about one metric or failure code, with the first event as a sample. */
interface Alert extends AlertKey {
  readonly sample: UsageEventRow;
  count: number;
}

/** Alerts about unpriced and failed usage of one batch, for the owners of its projects. */
export class UsageAlerts {
  readonly #alerts = new Map<string, Alert>();
  /** By project and type. The number per project is bounded, because clients can send metrics of their own. */
  readonly #counts = new Map<string, number>();

  addRow(row: UsageEventRow): void {
    if (row.status === 'failed') this.#add(row, USAGE_FAILED_EVENT, row.failureCode);
    for (const { pricingSource, metric } of row.items) {
      if (pricingSource === 'unpriced') this.#add(row, USAGE_UNPRICED_EVENT, metric);
    }
  }

  /**
   * Sends alerts that were not sent in this hour yet, with the batch's commit. Without unpriced and failed usage it
   * runs no query.
   */
  async write(tx: Tx, nowMs: number): Promise<void> {
    if (this.#alerts.size === 0) return;
    const hour = (Math.floor(nowMs / HOUR_MS) * HOUR_MS) / 1_000;
    const alerts = [...this.#alerts.entries()]
      .sort(([a], [b]) => compareText(a, b))
      .map(([, alert]) => alert);
    const claimed = await claimAlerts(tx, hour, alerts, USAGE_ALERTS_PER_HOUR_MAX);
    const fresh = alerts.filter((alert) => claimed.has(alertKey(alert)));
    await emit(
      tx,
      fresh.map((alert) => ({
        tenantId: alert.tenantId,
        projectId: alert.projectId,
        type: alert.type,
        data: dataOf(alert, hour),
        atMs: nowMs,
      })),
    );
  }

  #add(sample: UsageEventRow, type: string, name: string): void {
    const { tenantId, projectId } = sample;
    const key = alertKey({ projectId, type, name });
    const known = this.#alerts.get(key);
    if (known !== undefined) {
      known.count++;
      return;
    }
    const group = `${projectId}\n${type}`;
    const count = this.#counts.get(group) ?? 0;
    if (count >= USAGE_ALERTS_PER_HOUR_MAX) return;
    this.#counts.set(group, count + 1);
    this.#alerts.set(key, { tenantId, projectId, type, name, sample, count: 1 });
  }
}

function dataOf({ projectId, type, name, sample, count }: Alert, hour: number) {
  const about: UsageAlertData = {
    project_id: projectId,
    hour,
    raw_event_id: rawEventIdText(Buffer.from(sample.rawEventId).toString('hex')),
    occurred_at: sample.occurredAt,
    extractor_rule_set_id: sample.extractorRuleSetId,
  };
  if (type === USAGE_UNPRICED_EVENT) {
    return { ...about, metric: name, item_count: count } satisfies UsageUnpricedData;
  }
  return {
    ...about,
    code: name,
    message: sample.failureMessage,
    path: sample.failurePath === '' ? null : sample.failurePath,
    event_count: count,
  } satisfies UsageFailedData;
}
