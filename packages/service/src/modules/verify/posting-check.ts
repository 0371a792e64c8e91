import type { PostingRecount } from '@tollgate/contract';
import type { ClickHouseReader } from '../../platform/clickhouse/index.js';
import { onSnapshot, type Postgres } from '../../platform/postgres/index.js';
import { latestUsageMs, readUsageSums, type UsageSum } from '../ledger/index.js';
import { absentWindows, type CountedWindow, readActiveRules, readCountedWindows } from '../limits/index.js';
import { everyTable, type OwnTables, projectsWithOwnTables } from '../storage/index.js';
import { completeFromS, type PostingCheckDeps } from './check-deps.js';
import { type MissingReading, readMissingWindows } from './missing-windows.js';
import { readPostedSums } from './posting-history-store.js';
import { PostingTally } from './posting-tally.js';
import { readWaiting } from './totals-store.js';
import { readWindows, type WindowReading } from './window-check.js';

/** Upper bound of the windows that are recounted, which bounds the memory. */
const WINDOWS_MAX = 100_000;
/** Upper bound of the routes that are read; with more of them no rule is known, and windows are only bounded. */
const ROUTES_MAX = 100_000;
const NOTHING = '0';

/**
 * Compares posted usage with the history: the usage entries of each wallet with the charge items that name them, and
 * the newest windows with the charge items that their rules select, and the other way round. Both sides are read as in
 * `verifyUsage`: numbers that were the same before and after ClickHouse was read are judged, the rest is only counted.
 */
export async function verifyPosting({
  postgres,
  clickhouse,
  losses,
  wait,
}: PostingCheckDeps): Promise<PostingRecount> {
  const upToMs = await onSnapshot(postgres, latestUsageMs);
  const before = await readPosted(postgres, upToMs);
  const stalled = await wait(before.waiting);
  const own = await projectsWithOwnTables(postgres.db);
  const history = await clickhouse.upToDate(everyTable(own));
  const posted = await readPostedSums(history, own, upToMs);
  const windows = await readWindows(history, own, before.windows, before.rules);
  const missing = await readMissing({ postgres, losses }, history, own, before);
  const after = await readPosted(postgres, upToMs);
  // Read last: deletions are recorded before they happen.
  const completeFrom = await completeFromS({ postgres, losses });
  const check = new PostingCheck({ before, after, stalled, completeFrom });
  check.debits(posted);
  check.windows(windows);
  check.missing(missing);
  return check.tally.result();
}

type Posted = Awaited<ReturnType<typeof readPosted>>;

function readPosted(postgres: Postgres, upToMs: number) {
  return onSnapshot(postgres, async (tx) => {
    const { windows, total } = await readCountedWindows(tx, WINDOWS_MAX);
    return {
      sums: await readUsageSums(tx, upToMs),
      windows,
      windowCount: total,
      rules: await readActiveRules(tx, ROUTES_MAX),
      waiting: await readWaiting(tx),
    };
  });
}

/** Windows are written before the history, so windows that the history needs must exist when they are read after it. */
async function readMissing(
  { postgres, losses }: Pick<PostingCheckDeps, 'postgres' | 'losses'>,
  clickhouse: ClickHouseReader,
  own: readonly OwnTables[],
  { rules }: Posted,
): Promise<MissingReading> {
  if (rules === undefined) return { missing: [], rules: 0, leftOut: ROUTES_MAX };
  return readMissingWindows({
    ...{ clickhouse, own, rules },
    completeFromS: await completeFromS({ postgres, losses }),
    absent: (windows) => onSnapshot(postgres, (tx) => absentWindows(tx, windows)),
  });
}

interface Readings {
  readonly before: Posted;
  readonly after: Posted;
  readonly stalled: ReadonlySet<string>;
  readonly completeFrom: (projectId: string) => number;
}

class PostingCheck {
  readonly #readings: Readings;
  readonly tally = new PostingTally();

  constructor(readings: Readings) {
    this.#readings = readings;
  }

  debits(posted: readonly UsageSum[]): void {
    const { before, after, stalled, completeFrom } = this.#readings;
    const ofBefore = new Map(before.sums.map((sum) => [walletKey(sum), sum]));
    const ofAfter = new Map(after.sums.map((sum) => [walletKey(sum), sum]));
    const ofPosted = new Map(posted.map((sum) => [walletKey(sum), sum]));
    for (const [key, sum] of new Map([...ofPosted, ...ofAfter, ...ofBefore])) {
      if (completeFrom(sum.projectId) > 0) {
        this.tally.counts.wallets_unjudged++;
        continue;
      }
      const debits = ofBefore.get(key)?.amount ?? NOTHING;
      const isSettled = debits === (ofAfter.get(key)?.amount ?? NOTHING) && !stalled.has(sum.projectId);
      if (isSettled) this.tally.addWallet(sum, debits, ofPosted.get(key)?.amount ?? NOTHING);
      else this.tally.counts.unsettled++;
    }
  }

  windows({ read, leftOut }: WindowReading): void {
    const { before, after, stalled, completeFrom } = this.#readings;
    this.tally.counts.windows_unjudged += before.windowCount - before.windows.length + leftOut;
    const usedAfter = new Map(after.windows.map((window) => [windowKey(window), window.used]));
    for (const { window, sinceMs, bounds } of read) {
      const isSettled =
        usedAfter.get(windowKey(window)) === window.used &&
        after.rules?.of(window, window.ruleNo)?.sinceMs === sinceMs &&
        !stalled.has(window.projectId);
      if (window.startS < completeFrom(window.projectId)) this.tally.counts.windows_unjudged++;
      else if (isSettled) this.tally.addWindow(window, bounds);
      else this.tally.counts.unsettled++;
    }
  }

  missing({ missing, rules, leftOut }: MissingReading): void {
    const { after, stalled } = this.#readings;
    this.tally.counts.rules += rules;
    this.tally.counts.rules_unjudged += leftOut;
    for (const window of missing) {
      const isSettled =
        after.rules?.of(window, window.ruleNo)?.sinceMs === window.sinceMs && !stalled.has(window.projectId);
      if (isSettled) this.tally.addMissing(window, window.tenantId, window.currency, window.used);
      else this.tally.counts.unsettled++;
    }
  }
}

const walletKey = ({ projectId, accountId, currency }: UsageSum) =>
  JSON.stringify([projectId, accountId, currency]);

function windowKey({ projectId, subjectType, subjectId, ruleNo, startS }: CountedWindow): string {
  return JSON.stringify([projectId, subjectType, subjectId, ruleNo, startS]);
}
