import type { Tx } from '../../../platform/postgres/index.js';
import { emit, type WebhookEvent } from '../../webhooks/index.js';
import type { LimitCatalog } from '../book/catalog.js';
import { type OpenRule, type Standing, toRealtimeLimit } from '../standing.js';
import { type Crossing, crossingOf, firstNotice } from './crossing.js';
import { type SubjectUsage, subjectRef } from './subject-usage.js';
import {
  addToWindows,
  missingWindows,
  moveNotices,
  openWindows,
  readReserved,
  type WindowUse,
} from './window-store.js';

export interface CountedBatch {
  /** Each once, with what its windows are to be added. */
  readonly subjects: readonly SubjectUsage[];
  readonly catalog: Pick<LimitCatalog, 'read'>;
  readonly nowMs: number;
}

/** What a subject has used of one window. */
interface CountedWindow extends WindowUse {
  readonly usage: SubjectUsage;
  readonly open: OpenRule;
}

/** A window with what it has to tell. */
interface Crossed extends CountedWindow, Crossing {
  readonly total: bigint;
  readonly limit: bigint;
}

/** Adds what subjects have used to their windows, and notes what crossings are to be told. Needs the posting lock. */
export async function countWindows(tx: Tx, batch: CountedBatch): Promise<void> {
  const windows = countedWindows(batch.subjects);
  if (windows.length === 0) return;
  const { added, reached } = await addToWindows(tx, windows);
  const crossed = reached.map(({ index, used, limit, notice }): Crossed => {
    const window = windows[index] as CountedWindow;
    return { ...window, ...crossingOf(window.open.rule, limit, notice, used), total: used, limit };
  });
  await moveNotices(tx, crossed);
  if (added < windows.length)
    crossed.push(...(await openMissing(tx, batch, windows, windows.length - added)));
  await tell(tx, crossed, batch.nowMs);
}

/** In the order of the subjects, so that neighbours in the index are written one after the other. */
function countedWindows(subjects: readonly SubjectUsage[]): CountedWindow[] {
  const windows: CountedWindow[] = [];
  for (const usage of subjects.toSorted(bySubject)) {
    const { scope, subject } = usage;
    for (const [open, used] of usage.sums) {
      if (used === 0n) continue;
      const { projectNo } = scope;
      const { rule, window } = open;
      windows.push({ projectNo, subject, ruleNo: rule.ruleNo, startS: window.startS, used, usage, open });
    }
  }
  return windows;
}

function bySubject(a: SubjectUsage, b: SubjectUsage): number {
  return a.scope.projectNo - b.scope.projectNo || compareText(a.subject.id, b.subject.id);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Opens the windows that do not exist; answers those that have something to tell at once. */
async function openMissing(
  tx: Tx,
  batch: CountedBatch,
  windows: readonly CountedWindow[],
  count: number,
): Promise<Crossed[]> {
  const missing = (await missingWindows(tx, windows)).map((index) => windows[index] as CountedWindow);
  if (missing.length !== count) throw new Error(`${missing.length} windows are missing, not ${count}`);
  const limitOf = await currentLimits(tx, batch, missing);
  const crossed: Crossed[] = [];
  const opened = missing.map((window) => {
    const { open, used } = window;
    const limit = limitOf(window);
    const notice = firstNotice(open.rule, limit);
    const { endS } = open.window;
    if (used < notice) return { ...window, endS, limit, next: notice };
    const crossing = crossingOf(open.rule, limit, notice, used);
    crossed.push({ ...window, ...crossing, total: used, limit });
    return { ...window, endS, limit, next: crossing.next };
  });
  await openWindows(tx, opened, batch.nowMs);
  return crossed;
}

/**
 * What windows that open now allow. A direct limit may have changed, at once, since its route was read: such routes are read again,
 * now that a change has to wait for this batch.
 */
async function currentLimits(
  tx: Tx,
  { catalog }: CountedBatch,
  windows: readonly CountedWindow[],
): Promise<(window: CountedWindow) => bigint> {
  const changeable = windows.filter(({ open }) => open.rule.isDirect).map(({ usage }) => usage);
  const book = changeable.length === 0 ? undefined : await catalog.read(tx, changeable.map(subjectRef));
  return ({ usage: { scope, subject, route }, open: { rule, window } }) => {
    const now = rule.isDirect ? book?.resolve(scope.projectId, subject.type, subject.id) : undefined;
    const changed = now === route ? undefined : now?.rules.rules.find(({ ruleNo }) => ruleNo === rule.ruleNo);
    return now === undefined || changed === undefined
      ? route.limitFor(rule, window)
      : now.limitFor(changed, window);
  };
}

async function tell(tx: Tx, crossed: readonly Crossed[], nowMs: number): Promise<void> {
  const reserved = await readReserved(tx, crossed);
  const events = crossed.flatMap((window, index) => {
    const { usage, open, total, limit, percents } = window;
    const standing = { ...open, used: total, limit, reserved: reserved[index] ?? 0n };
    return percents.map((percent) => crossingEvent(usage, standing, percent, nowMs));
  });
  await emit(tx, events);
}

/** What is told of a window that has reached a share of its limit. */
function crossingEvent(
  { scope, subject, route }: SubjectUsage,
  standing: Standing,
  percent: number,
  atMs: number,
): WebhookEvent {
  const { rule, window } = standing;
  const { tenantId, projectId } = scope;
  return {
    tenantId,
    projectId,
    type: rule.webhookEvent ?? (percent === 100 ? 'usage_limit.exceeded' : 'usage_limit.threshold_reached'),
    data: { ...toRealtimeLimit(route, subject, standing), threshold_percent: percent },
    dedupeKey: `limit ${rule.ruleNo} ${window.startS} ${percent} ${subject.type} ${subject.id}`,
    atMs,
  };
}
