import { USAGE_RECOVERED_EVENT, type UsageLimitAlertData } from '@tollgate/contract';
import { present } from '../../../kernel/present.js';
import type { Tx } from '../../../platform/postgres/index.js';
import { eventsSent, type WebhookEvent } from '../../webhooks/index.js';
import { type LimitStatus, toRealtimeLimit } from '../check/limit-status.js';
import { aboutSubject } from '../check/recent-alerts.js';
import { beginAlerts, endAlerts, endUnrecordedAlerts, type LimitAlertKey } from './alert-store.js';
import type { ChangedWindow } from './current-windows.js';
import { readReserved } from './store.js';
import type { SubjectUsage } from './subject-usage.js';
import { WHOLE_PERCENT } from './threshold-crossing.js';

/** A percentage of the limit of a window that usage has passed. */
interface Passed {
  readonly window: ChangedWindow;
  readonly percent: number;
}

/** An alert, or the end of one, that is due. */
interface DueAlert extends Passed {
  readonly sequence: number;
  readonly isRecovery: boolean;
}

/**
 * Records the alerts of windows whose usage has passed thresholds, and returns their events: a crossing for each
 * percentage that is reached, and a recovery for each sent crossing whose percentage is not reached any more. Runs no
 * statement when no threshold was passed. The caller holds the posting lock.
 */
export async function alertEvents(
  tx: Tx,
  changed: readonly ChangedWindow[],
  nowMs: number,
): Promise<WebhookEvent[]> {
  const due = [...(await crossings(tx, changed)), ...(await recoveries(tx, changed))];
  const reserved = await readReserved(
    tx,
    due.map(({ window }) => window.sum),
  );
  return due.map((alert, index) => {
    const { usage, rule, window } = alert.window.sum;
    const at = { subject: usage.subject, route: usage.route, level: 0 };
    const ofRule = present(reserved[index], `the reserved amount of rule ${rule.ruleNo}`);
    const { used, limit, raised } = alert.window;
    const status = {
      ...{ at, rule, window, hasStart: rule.period.kind !== 'sliding', used, limit: limit + raised, raised },
      ...{ reserved: ofRule, isSeen: false },
    };
    return alertEvent(alert, status, nowMs);
  });
}

async function crossings(tx: Tx, changed: readonly ChangedWindow[]): Promise<DueAlert[]> {
  const passed = changed.flatMap((window) => window.reached.map((percent) => ({ window, percent })));
  const sequences = await beginAlerts(tx, passed.map(keyOf));
  return withSequences(passed, sequences, false);
}

/**
 * Returns the recoveries of crossings that were sent. Crossings of earlier releases were not recorded: they are found
 * among the messages, as long as these are kept.
 */
async function recoveries(tx: Tx, changed: readonly ChangedWindow[]): Promise<DueAlert[]> {
  const passed = changed.flatMap((window) => window.recovered.map((percent) => ({ window, percent })));
  const sequences = await endAlerts(tx, passed.map(keyOf));
  const others = passed.filter((_, index) => sequences[index] === undefined);
  const sent = await eventsSent(tx, others.map(firstCrossing));
  const unrecorded = others.filter((_, index) => sent.has(index));
  const firsts = await endUnrecordedAlerts(tx, unrecorded.map(keyOf));
  return [...withSequences(passed, sequences, true), ...withSequences(unrecorded, firsts, true)];
}

function withSequences(
  passed: readonly Passed[],
  sequences: readonly (number | undefined)[],
  isRecovery: boolean,
): DueAlert[] {
  return passed.flatMap((one, index) => {
    const sequence = sequences[index];
    return sequence === undefined ? [] : [{ ...one, sequence, isRecovery }];
  });
}

function keyOf({ window: { sum }, percent }: Passed): LimitAlertKey {
  const { usage, rule, window } = sum;
  const { projectNo } = usage.scope;
  return { projectNo, subject: usage.subject, ruleNo: rule.ruleNo, startS: window.startS, percent };
}

function firstCrossing({ window: { sum }, percent }: Passed) {
  const { tenantId, projectId } = sum.usage.scope;
  return {
    tenantId,
    projectId,
    dedupeKey: dedupeKey(sum.usage, sum, { percent, sequence: 1, isRecovery: false }),
  };
}

function alertEvent(alert: DueAlert, status: LimitStatus, atMs: number): WebhookEvent {
  const { usage } = alert.window.sum;
  const { scope, subject } = usage;
  const { tenantId, projectId } = scope;
  const { percent, sequence } = alert;
  const limit = toRealtimeLimit(status);
  const data: UsageLimitAlertData = { ...limit, threshold_percent: percent, sequence };
  return {
    tenantId,
    projectId,
    type: typeOf(alert, status),
    data,
    dedupeKey: dedupeKey(usage, status, alert),
    about: aboutSubject(subject),
    atMs,
  };
}

/** A rule can name its crossings, but not their recoveries, so that receivers can tell them apart. */
function typeOf({ isRecovery, percent }: DueAlert, { rule }: LimitStatus): string {
  if (isRecovery) return USAGE_RECOVERED_EVENT;
  return (
    rule.webhookEvent ??
    (percent === WHOLE_PERCENT ? 'usage_limit.exceeded' : 'usage_limit.threshold_reached')
  );
}

/**
 * Returns the key under which an alert is sent once. The first crossing has the key that earlier releases used, so that
 * it is not sent twice during an upgrade.
 */
function dedupeKey(
  { subject }: SubjectUsage,
  { rule, window }: Pick<LimitStatus, 'rule' | 'window'>,
  { percent, sequence, isRecovery }: Pick<DueAlert, 'percent' | 'sequence' | 'isRecovery'>,
): string {
  const kind = isRecovery ? 'recovery' : 'limit';
  const number = isRecovery || sequence > 1 ? `#${sequence}` : '';
  return `${kind} ${rule.ruleNo} ${window.startS} ${percent}${number} ${subject.type} ${subject.id}`;
}
