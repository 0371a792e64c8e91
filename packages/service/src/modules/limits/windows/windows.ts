import { present } from '../../../kernel/present.js';
import type { Tx } from '../../../platform/postgres/index.js';
import type { WebhookEvent } from '../../webhooks/index.js';
import { type LimitStatus, toRealtimeLimit } from '../check/limit-status.js';
import { aboutSubject } from '../check/recent-alerts.js';
import type { LimitCatalog } from '../rules/catalog.js';
import type { CrossedWindow, CurrentWindows, OpenedWindow } from './current-windows.js';
import {
  addToPastWindows,
  insertPastWindows,
  missingPastWindows,
  readCurrentWindows,
  readReserved,
  recordNextAlerts,
  writeCurrentWindows,
} from './store.js';
import { type SubjectUsage, subjectRef, type WindowSum, windowSums } from './subject-usage.js';
import { crossingOf, firstAlertAt } from './threshold-crossing.js';

export interface CountedBatch {
  /** Each subject once, with something to add. */
  readonly subjects: readonly SubjectUsage[];
  readonly catalog: Pick<LimitCatalog, 'read'>;
  readonly nowMs: number;
}

/**
 * Adds the use of subjects to their windows; returns the alerts to send. Nearly all usage falls into current windows,
 * which are one row for each subject. A newer window replaces the current one, which becomes a past window; late usage
 * goes to past windows. The caller holds the posting lock.
 */
export async function countWindows(tx: Tx, batch: CountedBatch): Promise<WebhookEvent[]> {
  const { subjects, nowMs } = batch;
  if (subjects.length === 0) return [];
  const rows = await readCurrentWindows(tx, subjects);
  const { crossed, newer, late } = addToCurrent(rows);
  const missing = await addToPast(tx, late, crossed);
  const limitOf = await currentLimits(tx, batch, [...newer.map(({ sum }) => sum), ...missing]);
  const open = (sum: WindowSum) => openedWindow(sum, limitOf(sum), nowMs, crossed);
  const past = missing.map(open);
  for (const { row, sum } of newer) {
    const before = row.open(open(sum));
    if (before !== undefined) past.push(before);
  }
  await insertPastWindows(tx, past);
  await writeCurrentWindows(tx, rows);
  return crossingEvents(tx, crossed, nowMs);
}

/** Adds the sums of current windows, and returns those of other windows. */
function addToCurrent(rows: readonly CurrentWindows[]) {
  const crossed: CrossedWindow[] = [];
  const newer: { readonly row: CurrentWindows; readonly sum: WindowSum }[] = [];
  const late: WindowSum[] = [];
  for (const row of rows) {
    for (const sum of windowSums(row.usage)) {
      const place = row.placeOf(sum);
      if (place === 'past') late.push(sum);
      else if (place === 'newer') newer.push({ row, sum });
      else {
        const crossing = row.add(sum);
        if (crossing !== undefined) crossed.push(crossing);
      }
    }
  }
  return { crossed, newer, late };
}

/**
 * Adds late usage to the past windows that exist; returns the sums of all others.
 *
 * @param crossed collects the windows that have an alert to send
 */
async function addToPast(tx: Tx, late: readonly WindowSum[], crossed: CrossedWindow[]): Promise<WindowSum[]> {
  if (late.length === 0) return [];
  const { added, reached } = await addToPastWindows(tx, late);
  const moved = reached.map(({ index, used, limit, notice }) => {
    const sum = present(late[index], 'late usage');
    return { sum, used, limit, ...crossingOf(sum.rule, limit, notice, used) };
  });
  await recordNextAlerts(tx, moved);
  crossed.push(...moved);
  if (added === late.length) return [];
  const missing = (await missingPastWindows(tx, late)).map((index) => present(late[index], 'late usage'));
  if (missing.length !== late.length - added) {
    throw new Error(`${missing.length} windows are missing, not ${late.length - added}`);
  }
  return missing;
}

/** @param crossed collects the window when it has an alert to send at once */
function openedWindow(
  sum: WindowSum,
  limit: bigint,
  openedAtMs: number,
  crossed: CrossedWindow[],
): OpenedWindow {
  const { usage, rule, window, used } = sum;
  const notice = firstAlertAt(rule, limit);
  const { percents, next } =
    used < notice ? { percents: [], next: notice } : crossingOf(rule, limit, notice, used);
  if (percents.length > 0) crossed.push({ sum, used, limit, percents });
  const { startS, endS = null } = window;
  return { usage, ruleNo: rule.ruleNo, startS, endS, used, limit, next, openedAtMs };
}

/**
 * Returns the limits of windows that open now. A direct limit may have been changed with immediate effect since its
 * route was read: such routes are read again here, where changes have to wait for this batch.
 */
async function currentLimits(
  tx: Tx,
  { catalog }: CountedBatch,
  sums: readonly WindowSum[],
): Promise<(sum: WindowSum) => bigint> {
  const changeable = sums.filter(({ rule }) => rule.planId === null).map(({ usage }) => usage);
  const routes = changeable.length === 0 ? undefined : await catalog.read(tx, changeable.map(subjectRef));
  return ({ usage: { scope, subject, route }, rule, window }) => {
    const now = rule.planId === null ? routes?.resolve(scope.projectId, subject.type, subject.id) : undefined;
    const changed = now === route ? undefined : now?.rules.rules.find(({ ruleNo }) => ruleNo === rule.ruleNo);
    return now === undefined || changed === undefined
      ? route.limitFor(rule, window)
      : now.limitFor(changed, window);
  };
}

async function crossingEvents(
  tx: Tx,
  crossed: readonly CrossedWindow[],
  nowMs: number,
): Promise<WebhookEvent[]> {
  const reserved = await readReserved(
    tx,
    crossed.map(({ sum }) => sum),
  );
  return crossed.flatMap(({ sum, used, limit, percents }, index) => {
    const { rule, window } = sum;
    const ofRule = reserved[index];
    if (ofRule === undefined) throw new Error(`the reserved amount of rule ${rule.ruleNo} was not read`);
    const status = { rule, window, used, limit, reserved: ofRule };
    return percents.map((percent) => crossingEvent(sum.usage, status, percent, nowMs));
  });
}

/** Returns the alert of a window that has reached a percentage of its limit. */
function crossingEvent(
  { scope, subject, route }: SubjectUsage,
  status: LimitStatus,
  percent: number,
  atMs: number,
): WebhookEvent {
  const { rule, window } = status;
  const { tenantId, projectId } = scope;
  return {
    tenantId,
    projectId,
    type: rule.webhookEvent ?? (percent === 100 ? 'usage_limit.exceeded' : 'usage_limit.threshold_reached'),
    data: { ...toRealtimeLimit(route, subject, status), threshold_percent: percent },
    dedupeKey: `limit ${rule.ruleNo} ${window.startS} ${percent} ${subject.type} ${subject.id}`,
    about: aboutSubject(subject),
    atMs,
  };
}
