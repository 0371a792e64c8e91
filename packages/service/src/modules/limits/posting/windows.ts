import type { Tx } from '../../../platform/postgres/index.js';
import { emit, type WebhookEvent } from '../../webhooks/index.js';
import type { LimitCatalog } from '../book/catalog.js';
import type { CompiledRoute } from '../book/index.js';
import { type OpenRule, type Standing, toRealtimeLimit } from '../standing.js';
import { crossingOf, firstNotice } from './crossing.js';
import { type SubjectUsage, subjectRef } from './subject-usage.js';
import {
  addToWindows,
  moveNotices,
  type NextNotice,
  type ReachedWindow,
  readReserved,
  type SubjectWindows,
  type WindowUse,
} from './window-store.js';

export interface CountedBatch {
  /** Each once, with what its windows are to be added. */
  readonly subjects: readonly SubjectUsage[];
  readonly catalog: Pick<LimitCatalog, 'read'>;
  readonly nowMs: number;
}

/** Adds what subjects have used to their windows, and notes what crossings are to be told. */
export async function countWindows(tx: Tx, batch: CountedBatch): Promise<void> {
  const { subjects, nowMs } = batch;
  const limitOf = await currentLimits(tx, batch);
  const uses = subjects.map((usage) => windowsOf(usage, limitOf)).filter(({ windows }) => windows.length > 0);
  const reached = await addToWindows(tx, uses, nowMs);
  if (reached.length === 0) return;
  const reserved = await readReserved(tx, reached);
  const find = windowFinder(subjects);
  const events: WebhookEvent[] = [];
  const notices: NextNotice[] = [];
  for (const [index, window] of reached.entries()) {
    const { usage, open } = find(window);
    const { percents, next } = crossingOf(open.rule, window.limit, window.notice, window.used);
    const { used, limit } = window;
    const standing = { ...open, used, limit, reserved: reserved[index] ?? 0n };
    for (const percent of percents) events.push(crossingEvent(usage, standing, percent, nowMs));
    notices.push({ ...window, next });
  }
  await moveNotices(tx, notices);
  await emit(tx, events);
}

type LimitOf = (usage: SubjectUsage, open: OpenRule) => bigint;

/**
 * What windows that open now allow. A direct limit may have changed, at once, since its route was read: its subjects' routes are
 * read again, now that such a change has to wait for this batch.
 */
async function currentLimits(tx: Tx, { subjects, catalog }: CountedBatch): Promise<LimitOf> {
  const changeable = subjects.filter(({ sums }) => [...sums.keys()].some(({ rule }) => rule.isDirect));
  if (changeable.length === 0) return ({ route }, open) => route.limitFor(open.rule, open.window);
  const book = await catalog.read(tx, changeable.map(subjectRef));
  return ({ scope, subject, route }, { rule, window }) => {
    const now = rule.isDirect ? book.resolve(scope.projectId, subject.type, subject.id) : undefined;
    const rules: CompiledRoute['rules']['rules'] = now === undefined || now === route ? [] : now.rules.rules;
    const changed = rules.find(({ ruleNo }) => ruleNo === rule.ruleNo);
    return (changed === undefined ? route : (now ?? route)).limitFor(changed ?? rule, window);
  };
}

function windowsOf(usage: SubjectUsage, limitOf: LimitOf): SubjectWindows {
  const windows: WindowUse[] = [];
  for (const [open, used] of usage.sums) {
    if (used === 0n) continue;
    const { rule, window } = open;
    const limit = limitOf(usage, open);
    const { startS, endS } = window;
    windows.push({ ruleNo: rule.ruleNo, startS, endS, used, limit, firstNotice: firstNotice(rule, limit) });
  }
  return { projectNo: usage.scope.projectNo, subject: usage.subject, windows };
}

interface FoundWindow {
  readonly usage: SubjectUsage;
  readonly open: OpenRule;
}

function windowFinder(subjects: readonly SubjectUsage[]): (window: ReachedWindow) => FoundWindow {
  const byKey = new Map(
    subjects.map((usage) => [
      subjectText(usage.scope.projectNo, usage.subject.type, usage.subject.id),
      usage,
    ]),
  );
  return ({ projectNo, subjectType, subjectId, ruleNo, startS }) => {
    const usage = byKey.get(subjectText(projectNo, subjectType, subjectId));
    for (const open of usage?.sums.keys() ?? []) {
      if (usage !== undefined && open.rule.ruleNo === ruleNo && open.window.startS === startS) {
        return { usage, open };
      }
    }
    throw new Error(`window ${startS} of rule ${ruleNo} was not counted`);
  };
}

/** A type holds no space. */
const subjectText = (projectNo: number, type: string, id: string) => `${projectNo} ${type} ${id}`;

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
