import { type PostingDifference, type PostingRecount, VERIFY_DIFFERENCES_MAX } from '@tollgate/contract';
import { equals, toText } from '../../kernel/decimal.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import type { Postgres } from '../../platform/postgres/index.js';
import { latestUsageMs, readUsageSums, type UsageSum } from '../ledger/index.js';
import { type CountedWindow, readCountedWindows } from '../limits/index.js';
import { projectsWithExpiredUsage, projectsWithOwnTables, retainedFromDays } from '../storage/index.js';
import { decimalOf } from './compare.js';
import { readPostedSums, readWindowSums, type SubjectSum } from './posting-history-store.js';
import { onSnapshot, readWaiting, type WaitingBatch } from './totals-store.js';

export interface PostingCheckDeps {
  readonly postgres: Postgres;
  readonly clickhouse: Pick<ClickHouse, 'query'>;
  /** Waits for batches to reach ClickHouse; answers the projects of those that do not. */
  readonly wait: (batches: readonly WaitingBatch[]) => Promise<ReadonlySet<string>>;
}

/** Windows that are recounted: a bound on memory. */
const WINDOWS_MAX = 100_000;
/** Queries that they may take; windows of one rule and span share one. */
const GROUPS_MAX = 500;
/** A batch that was processed so soon after a change may have read what was before it. */
const CHANGE_MARGIN_MS = 60_000;
const NOTHING = '0';
const SECONDS_PER_DAY = 86_400;

/**
 * Compares what was posted with the history: the usage entries of each wallet with the charge items that name them, and the newest
 * windows with the charge items that their rules select. Both sides are read as in `verifyUsage`: what was the same before and
 * after ClickHouse was read is judged, the rest is only counted.
 */
export async function verifyPosting(deps: PostingCheckDeps): Promise<PostingRecount> {
  const { postgres, clickhouse, wait } = deps;
  const upToMs = await onSnapshot(postgres, latestUsageMs);
  const read = () =>
    onSnapshot(postgres, async (tx) => ({
      sums: await readUsageSums(tx, upToMs),
      windows: await readCountedWindows(tx, WINDOWS_MAX),
      waiting: await readWaiting(tx),
    }));
  const before = await read();
  const stalled = await wait(before.waiting);
  const own = await projectsWithOwnTables(postgres.db);
  const posted = await readPostedSums(clickhouse, own, upToMs);
  const groups = groupsOf(before.windows).slice(0, GROUPS_MAX);
  const found: SubjectSum[][] = [];
  for (const [window] of groups)
    if (window !== undefined) found.push(await readWindowSums(clickhouse, own, window));
  const after = await read();
  // Read last: what has been deleted was recorded before.
  const recount = new PostingTally(
    await projectsWithExpiredUsage(postgres.db),
    await retainedFromDays(postgres.db),
  );
  recount.addDebits({ before: before.sums, after: after.sums, posted, stalled });
  const usedAfter = new Map(after.windows.map((window) => [windowKey(window), window.used]));
  for (const [index, windows] of groups.entries()) {
    const sums = new Map(found[index]?.map((sum) => [sum.subjectId, sum]));
    for (const window of windows) {
      const isSettled = usedAfter.get(windowKey(window)) === window.used && !stalled.has(window.projectId);
      recount.addWindow(window, sums.get(window.subjectId), isSettled);
    }
  }
  return recount.result();
}

interface DebitReadings {
  readonly before: readonly UsageSum[];
  readonly after: readonly UsageSum[];
  readonly posted: readonly UsageSum[];
  readonly stalled: ReadonlySet<string>;
}

class PostingTally {
  #wallets = 0;
  #windows = 0;
  #unsettled = 0;
  #differenceCount = 0;
  readonly #differences: PostingDifference[] = [];

  /**
   * @param expired projects whose history does not tell any more all that was posted
   * @param retainedFromDays from which day on it does
   */
  constructor(
    private readonly expired: ReadonlySet<string>,
    private readonly retainedFromDays: ReadonlyMap<string, number>,
  ) {}

  addDebits({ before, after, posted, stalled }: DebitReadings): void {
    const ofBefore = new Map(before.map((sum) => [walletKey(sum), sum]));
    const ofAfter = new Map(after.map((sum) => [walletKey(sum), sum]));
    const ofPosted = new Map(posted.map((sum) => [walletKey(sum), sum]));
    for (const [key, sum] of new Map([...ofPosted, ...ofAfter, ...ofBefore])) {
      if (this.expired.has(sum.projectId)) continue;
      const expected = ofBefore.get(key)?.amount ?? NOTHING;
      if (expected !== (ofAfter.get(key)?.amount ?? NOTHING) || stalled.has(sum.projectId)) {
        this.#unsettled++;
        continue;
      }
      this.#wallets++;
      const { tenantId, projectId, accountId, currency } = sum;
      this.#compare(expected, ofPosted.get(key)?.amount ?? NOTHING, {
        ...{ tenant_id: tenantId, project_id: projectId, measure: 'usage_debits' },
        ...{ account_id: accountId, currency, ...NO_WINDOW },
      });
    }
  }

  /** @param sum of the history; undefined where it has no charge item for the window */
  addWindow(window: CountedWindow, sum: SubjectSum | undefined, isSettled: boolean): void {
    const retainedFromS = (this.retainedFromDays.get(window.projectId) ?? 0) * SECONDS_PER_DAY;
    if (this.expired.has(window.projectId) && window.startS < retainedFromS) return;
    if (!isSettled) this.#unsettled++;
    const isNearChange = sum !== undefined && Number(sum.firstMs) < window.sinceMs + CHANGE_MARGIN_MS;
    if (!isSettled || isNearChange) return;
    this.#windows++;
    this.#compare(window.used, sum?.used ?? NOTHING, {
      ...{ tenant_id: window.tenantId, project_id: window.projectId, measure: 'window_usage' },
      ...{ account_id: null, currency: window.currency || null },
      ...{ subject_type: window.subjectType, subject_id: window.subjectId },
      ...{ limit_rule_no: window.ruleNo, window_start: window.startS },
    });
  }

  result(): PostingRecount {
    return {
      wallets: this.#wallets,
      windows: this.#windows,
      unsettled: this.#unsettled,
      difference_count: this.#differenceCount,
      differences: this.#differences,
    };
  }

  #compare(expected: string, found: string, at: Omit<PostingDifference, 'expected' | 'found'>): void {
    const [of, is] = [decimalOf(expected), decimalOf(found)];
    if (equals(of, is)) return;
    this.#differenceCount++;
    if (this.#differences.length >= VERIFY_DIFFERENCES_MAX) return;
    this.#differences.push({ ...at, expected: toText(of), found: toText(is) });
  }
}

const NO_WINDOW = { subject_type: null, subject_id: null, limit_rule_no: null, window_start: null };

/** Windows that one query of the history answers, those that began last first. */
function groupsOf(windows: readonly CountedWindow[]): CountedWindow[][] {
  const groups = new Map<string, CountedWindow[]>();
  for (const window of windows) {
    const { projectId, subjectType, ruleNo, startS, sinceMs } = window;
    const key = JSON.stringify([projectId, subjectType, ruleNo, startS, sinceMs]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [window]);
    else group.push(window);
  }
  return [...groups.values()].sort(([a], [b]) => (b?.startS ?? 0) - (a?.startS ?? 0));
}

const walletKey = ({ accountId, currency }: UsageSum) => `${accountId} ${currency}`;

function windowKey({ projectId, subjectType, subjectId, ruleNo, startS, sinceMs }: CountedWindow): string {
  return JSON.stringify([projectId, subjectType, subjectId, ruleNo, startS, sinceMs]);
}
