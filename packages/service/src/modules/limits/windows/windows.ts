import { present } from '../../../kernel/present.js';
import type { Tx } from '../../../platform/postgres/index.js';
import type { WebhookEvent } from '../../webhooks/index.js';
import type { LimitCatalog } from '../rules/catalog.js';
import { alertEvents } from './alert-events.js';
import type { ChangedWindow, CurrentWindows, OpenedWindow } from './current-windows.js';
import { placeFirstUses } from './first-use.js';
import { countSliding } from './sliding.js';
import {
  addToPastWindows,
  insertPastWindows,
  missingPastWindows,
  readCurrentWindows,
  recordNextAlerts,
  writeCurrentWindows,
} from './store.js';
import { type SubjectUsage, subjectRef, type WindowSum, windowSums } from './subject-usage.js';
import { firstAlertAt, type RaisedLimit, thresholdChangeOf } from './threshold-crossing.js';
import { countValues } from './window-values.js';

export interface CountedBatch {
  /** Each subject once, with something to add. */
  readonly subjects: readonly SubjectUsage[];
  readonly catalog: Pick<LimitCatalog, 'read'>;
  readonly nowMs: number;
}

/**
 * Adds the use of subjects to their windows; returns the alerts to send. Before that, it places usage in `first_use`
 * windows, and counts values, which say by how much usage changes. Nearly all usage falls into current windows, which
 * are one row for each subject. A newer window replaces the current one, which becomes a past window; late usage goes
 * to past windows. The caller holds the posting lock.
 */
export async function countWindows(tx: Tx, batch: CountedBatch): Promise<WebhookEvent[]> {
  const { subjects, nowMs } = batch;
  if (subjects.length === 0) return [];
  const sliding = subjects.some(({ route }) => route.rules.hasSliding)
    ? await countSliding(tx, { subjects, nowMs, limitsOf: (windows) => currentLimits(tx, batch, windows) })
    : [];
  const rows = await readCurrentWindows(tx, subjects);
  if (subjects.some(({ route }) => route.rules.hasFirstUse))
    await placeFirstUses(tx, rows, Math.floor(nowMs / 1_000));
  await countValues(tx, subjects);
  const raiseOf = (sum: WindowSum) => sum.usage.route.raiseFor(sum.rule, sum.window, nowMs);
  const { changed, newer, late } = addToCurrent(rows, raiseOf);
  const missing = await addToPast(tx, late, raiseOf, changed);
  const limitOf = await currentLimits(tx, batch, [...newer.map(({ sum }) => sum), ...missing]);
  const open = (sum: WindowSum) =>
    openedWindow(sum, { limit: limitOf(sum), raised: raiseOf(sum) }, nowMs, changed);
  const past = missing.map(open);
  for (const { row, sum } of newer) {
    const before = row.open(open(sum));
    if (before !== undefined) past.push(before);
  }
  await insertPastWindows(tx, past);
  await writeCurrentWindows(tx, rows);
  const alerts = await alertEvents(tx, changed, nowMs);
  return sliding.length === 0 ? alerts : [...sliding, ...alerts];
}

/** Returns the amount × 10^18 by which raises lift the limit of a window now. */
type RaiseOf = (sum: WindowSum) => bigint;

/**
 * Adds the sums of current windows, and returns those of other windows. Usage by which a current window does not change
 * is compared with its limit too, which may have changed; it changes no other window.
 */
function addToCurrent(rows: readonly CurrentWindows[], raiseOf: RaiseOf) {
  const changed: ChangedWindow[] = [];
  const newer: { readonly row: CurrentWindows; readonly sum: WindowSum }[] = [];
  const late: WindowSum[] = [];
  for (const row of rows) {
    for (const sum of windowSums(row.usage)) {
      const place = row.placeOf(sum);
      if (place === 'current') {
        const change = row.add(sum, raiseOf(sum));
        if (change !== undefined) changed.push(change);
      } else if (sum.used === 0n && !sum.opens) continue;
      else if (place === 'past') late.push(sum);
      else newer.push({ row, sum });
    }
  }
  return { changed, newer, late };
}

/**
 * Adds late usage to the past windows that exist; returns the sums of all others.
 *
 * @param changed collects the windows that have passed a threshold
 */
async function addToPast(
  tx: Tx,
  late: readonly WindowSum[],
  raiseOf: RaiseOf,
  changed: ChangedWindow[],
): Promise<WindowSum[]> {
  if (late.length === 0) return [];
  const { added, due } = await addToPastWindows(tx, late);
  const passed = due.flatMap(({ index, used, limit, notice }) => {
    const sum = present(late[index], 'late usage');
    const raised = raiseOf(sum);
    const change = thresholdChangeOf(sum.rule, { limit, raised }, notice, used);
    return change === undefined ? [] : [{ sum, used, limit, raised, ...change }];
  });
  await recordNextAlerts(tx, passed);
  changed.push(...passed);
  if (added === late.length) return [];
  const missing = (await missingPastWindows(tx, late)).map((index) => present(late[index], 'late usage'));
  if (missing.length !== late.length - added) {
    throw new Error(`${missing.length} windows are missing, not ${late.length - added}`);
  }
  return missing;
}

/** @param changed collects the window when it has an alert to send at once */
function openedWindow(
  sum: WindowSum,
  { limit, raised }: RaisedLimit,
  openedAtMs: number,
  changed: ChangedWindow[],
): OpenedWindow {
  const { usage, rule, window, used } = sum;
  const first = firstAlertAt(rule, limit);
  const change = thresholdChangeOf(rule, { limit, raised }, first, used);
  if (change !== undefined) changed.push({ sum, used, limit, raised, ...change });
  const next = change === undefined ? first : change.next;
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
