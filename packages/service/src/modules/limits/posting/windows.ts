import type { Tx } from '../../../platform/postgres/index.js';
import type { WebhookEvent } from '../../webhooks/index.js';
import type { LimitCatalog } from '../book/catalog.js';
import { type Standing, toRealtimeLimit } from '../standing.js';
import { type Crossing, crossingOf, firstNotice } from './crossing.js';
import { type SubjectUsage, subjectRef, type WindowSum } from './subject-usage.js';
import { addToWindows, missingWindows, moveNotices, openWindows, readReserved } from './window-store.js';

export interface CountedBatch {
  /** Each window once; sums of 0 are none. */
  readonly sums: readonly WindowSum[];
  readonly catalog: Pick<LimitCatalog, 'read'>;
  readonly nowMs: number;
}

/** A window with what it has to tell. Amounts × 10^18. */
interface Crossed extends Crossing {
  readonly sum: WindowSum;
  readonly used: bigint;
  readonly limit: bigint;
}

/** Adds what subjects have used to their windows; answers what crossings are to be told. Needs the posting lock. */
export async function countWindows(tx: Tx, batch: CountedBatch): Promise<WebhookEvent[]> {
  const { sums, nowMs } = batch;
  if (sums.length === 0) return [];
  const { added, reached } = await addToWindows(tx, sums);
  const crossed = reached.map(({ index, used, limit, notice }): Crossed => {
    const sum = sums[index] as WindowSum;
    return { sum, used, limit, ...crossingOf(sum.rule, limit, notice, used) };
  });
  await moveNotices(tx, crossed);
  if (added < sums.length) crossed.push(...(await openMissing(tx, batch, sums.length - added)));
  return crossingEvents(tx, crossed, nowMs);
}

/** Opens the windows that do not exist; answers those that have something to tell at once. */
async function openMissing(tx: Tx, batch: CountedBatch, count: number): Promise<Crossed[]> {
  const { sums, nowMs } = batch;
  const missing = (await missingWindows(tx, sums)).map((index) => sums[index] as WindowSum);
  if (missing.length !== count) throw new Error(`${missing.length} windows are missing, not ${count}`);
  const limitOf = await currentLimits(tx, batch, missing);
  const crossed: Crossed[] = [];
  const opened = missing.map((sum) => {
    const { rule, used } = sum;
    const limit = limitOf(sum);
    const notice = firstNotice(rule, limit);
    if (used < notice) return { sum, limit, next: notice };
    const crossing = crossingOf(rule, limit, notice, used);
    crossed.push({ sum, used, limit, ...crossing });
    return { sum, limit, next: crossing.next };
  });
  await openWindows(tx, opened, nowMs);
  return crossed;
}

/**
 * What windows that open now allow. A direct limit may have changed, at once, since its route was read: such routes are read again,
 * now that a change has to wait for this batch.
 */
async function currentLimits(
  tx: Tx,
  { catalog }: CountedBatch,
  sums: readonly WindowSum[],
): Promise<(sum: WindowSum) => bigint> {
  const changeable = sums.filter(({ rule }) => rule.isDirect).map(({ usage }) => usage);
  const book = changeable.length === 0 ? undefined : await catalog.read(tx, changeable.map(subjectRef));
  return ({ usage: { scope, subject, route }, rule, window }) => {
    const now = rule.isDirect ? book?.resolve(scope.projectId, subject.type, subject.id) : undefined;
    const changed = now === route ? undefined : now?.rules.rules.find(({ ruleNo }) => ruleNo === rule.ruleNo);
    return now === undefined || changed === undefined
      ? route.limitFor(rule, window)
      : now.limitFor(changed, window);
  };
}

async function crossingEvents(tx: Tx, crossed: readonly Crossed[], nowMs: number): Promise<WebhookEvent[]> {
  const reserved = await readReserved(
    tx,
    crossed.map(({ sum }) => sum),
  );
  return crossed.flatMap(({ sum, used, limit, percents }, index) => {
    const { rule, window } = sum;
    const standing = { rule, window, used, limit, reserved: reserved[index] ?? 0n };
    return percents.map((percent) => crossingEvent(sum.usage, standing, percent, nowMs));
  });
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
