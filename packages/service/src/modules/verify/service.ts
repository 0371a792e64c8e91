import { VERIFY_DIFFERENCES_MAX, type VerifyReport } from '@tollgate/contract';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import type { Logger } from '../../platform/log/index.js';
import { type Db, onSnapshot, type Postgres, type Tx } from '../../platform/postgres/index.js';
import { holdsWithin } from '../../platform/wait.js';
import { recountPurchases } from '../checkout/index.js';
import { recountLedger } from '../ledger/index.js';
import { recountReservations } from '../limits/index.js';
import { readLosses } from '../losses/index.js';
import { recountQuotas } from '../quotas/index.js';
import { everyTable, projectsWithOwnTables, retainedFromDays } from '../storage/index.js';
import {
  changedDays,
  compareNumbers,
  countedAlike,
  type DaySpan,
  dayKey,
  type Measurement,
  spansOf,
} from './compare.js';
import { verifyCounters } from './counter-check.js';
import { daysWithHistory, type FoundTotals, ITEM_STORES, readFound } from './history-store.js';
import { recountIngest } from './ingest-recount-store.js';
import { KnownLosses } from './known-losses.js';
import { verifyPosting } from './posting-check.js';
import { type OpenDay, Tally } from './tally.js';
import {
  countCorrections,
  countFailedEvents,
  daysWithTotals,
  type ExpectedTotals,
  type PendingBatch,
  type RecordedIds,
  readEventIds,
  readExpected,
  stillPending,
  withRatingHeld,
} from './totals-store.js';

export interface VerifyDeps {
  readonly postgres: Postgres;
  readonly clickhouse: Pick<ClickHouse, 'upToDate'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** How long committed batches may take to reach ClickHouse; after that, their projects are not judged. */
  readonly projectionMsMax?: number;
}

/** Number of tries to read a day while nothing changes, before rating is held for it. */
const ROUNDS_AT_REST = 2;
/** Default of `projectionMsMax`. */
const PROJECTION_MS_MAX = 30_000;
/** The same while rating is held. */
const HELD_PROJECTION_MS_MAX = 5_000;
const PROJECTION_POLL_MS = 50;

/** One reading of both stores. */
interface Look {
  readonly expected: ExpectedTotals;
  readonly ids: RecordedIds;
  readonly revisions: readonly Measurement[];
  readonly failed: readonly Measurement[];
  readonly found: FoundTotals;
  /** The first day of kept history; read afterwards, because deletions are recorded before they happen. */
  readonly retained: ReadonlyMap<string, number>;
  /** Days that may have changed between the two readings. */
  readonly moving: ReadonlySet<string>;
  /** Projects with batches that did not reach ClickHouse in time. */
  readonly stalled: ReadonlySet<string>;
}

/**
 * Compares the totals in PostgreSQL with ClickHouse's events and each resolution of its rollup, per day, and recounts
 * the ledger, leases, postings, accepted and rated events, and purchases. Exact while events are accepted and rated.
 * README.md says why.
 */
export async function verifyUsage(deps: VerifyDeps): Promise<VerifyReport> {
  const startedMs = performance.now();
  const tally = new Tally();
  const projection = new Projection(deps.projectionMsMax ?? PROJECTION_MS_MAX);
  const losses = new KnownLosses(await readLosses(deps.postgres.db));
  const own = await projectsWithOwnTables(deps.postgres.db);
  const days = [
    ...(await daysWithTotals(deps.postgres.db)),
    ...(await daysWithHistory(await deps.clickhouse.upToDate(everyTable(own)), own)),
  ];
  for (const span of spansOf(days)) await verifySpan(deps, span, { projection, losses, tally });
  const ledger = await recountLedger(deps.postgres, VERIFY_DIFFERENCES_MAX);
  const reservations = await recountReservations(deps.postgres, VERIFY_DIFFERENCES_MAX);
  const wait = (batches: readonly PendingBatch[]) => projection.wait(deps.postgres.db, batches);
  const postings = await verifyPosting({ ...deps, losses, wait });
  const counters = await verifyCounters({ ...deps, losses, wait });
  const quotas = await recountQuotas(deps.postgres, VERIFY_DIFFERENCES_MAX);
  const purchases = await recountPurchases(deps.postgres, VERIFY_DIFFERENCES_MAX);
  const ingest = await recountIngest(deps.postgres, VERIFY_DIFFERENCES_MAX);
  const recounts = { ledger, reservations, postings, counters, quotas, purchases, ingest };
  const report = tally.report(recounts, losses.recount(), Math.round(performance.now() - startedMs));
  logReport(deps.log, report);
  return report;
}

function logReport(log: VerifyDeps['log'], report: VerifyReport): void {
  const {
    differences: _differences,
    totals: _totals,
    unsettled,
    ledger,
    reservations,
    postings,
    counters,
    quotas,
    purchases,
    ingest,
    losses: { losses: _losses, ...lossCounts },
    ...summary
  } = report;
  const counts = {
    ledgerDifferences: ledger.difference_count,
    reservationDifferences: reservations.difference_count,
    postingDifferences: postings.difference_count,
    counterDifferences: counters.difference_count,
    quotaDifferences: quotas.difference_count,
    purchaseDifferences: purchases.difference_count,
    ingestDifferences: ingest.difference_count,
    unsettled: unsettled.length,
    losses: lossCounts.loss_count,
  };
  log[report.status === 'equal' ? 'info' : 'warn']({ ...summary, ...counts }, 'usage verified');
}

/** The parts that all days of one verification share. */
interface Verification {
  readonly projection: Projection;
  readonly losses: KnownLosses;
  readonly tally: Tally;
}

async function verifySpan(
  deps: VerifyDeps,
  span: DaySpan,
  { projection, losses, tally }: Verification,
): Promise<void> {
  const judged = new Set<string>();
  let open = new Map<string, OpenDay>();
  for (let round = 0; round <= ROUNDS_AT_REST; round++) {
    const look =
      round < ROUNDS_AT_REST
        ? await lookAtRest(deps, span, projection)
        : await lookWhileHeld(deps, span, projection);
    open = judge(look, judged, { losses, tally });
    if (open.size === 0) return;
  }
  tally.leaveOpen([...open.values()]);
}

/** Reads the totals before and after ClickHouse: a day whose totals are the same did not change in between. */
async function lookAtRest(
  { postgres, clickhouse }: VerifyDeps,
  span: DaySpan,
  projection: Projection,
): Promise<Look> {
  const counts = await onSnapshot(postgres, (tx) => readCounts(tx, span));
  const { expected } = counts;
  const stalled = await projection.wait(postgres.db, expected.waiting);
  const own = await projectsWithOwnTables(postgres.db);
  const found = await readFound(await clickhouse.upToDate(everyTable(own)), own, span);
  const retained = await retainedFromDays(postgres.db);
  const after = await onSnapshot(postgres, (tx) => readExpected(tx, span));
  const moving = changedDays([...expected.items, ...expected.events], [...after.items, ...after.events]);
  return { ...counts, found, retained, moving, stalled };
}

/** Reads what PostgreSQL has counted. */
async function readCounts(
  tx: Tx,
  span: DaySpan,
): Promise<Pick<Look, 'expected' | 'ids' | 'revisions' | 'failed'>> {
  return {
    expected: await readExpected(tx, span),
    ids: await readEventIds(tx, span),
    revisions: await countCorrections(tx, span),
    failed: await countFailedEvents(tx, span),
  };
}

/** For days that change all the time: no batch is committed while both stores are read. */
function lookWhileHeld(
  { postgres, clickhouse }: VerifyDeps,
  span: DaySpan,
  projection: Projection,
): Promise<Look> {
  return withRatingHeld(postgres, async (tx) => {
    const counts = await readCounts(tx, span);
    const stalled = await projection.wait(tx, counts.expected.waiting, HELD_PROJECTION_MS_MAX);
    const own = await projectsWithOwnTables(tx);
    const found = await readFound(await clickhouse.upToDate(everyTable(own)), own, span);
    const retained = await retainedFromDays(postgres.db);
    return { ...counts, found, retained, moving: new Set<string>(), stalled };
  });
}

/** Waits for committed batches to reach ClickHouse. */
class Projection {
  readonly #waitMsMax: number;
  /** Batches that did not arrive in time; verification does not wait for them again. */
  readonly #stuck = new Set<number>();

  constructor(waitMsMax: number) {
    this.#waitMsMax = waitMsMax;
  }

  /** Returns the projects whose batches are still not in ClickHouse when the time is up. */
  async wait(db: Db, batches: readonly PendingBatch[], msMax = this.#waitMsMax): Promise<Set<string>> {
    let left = batches;
    const isDone = async () => {
      left = await stillPending(db, left);
      return left.every(({ id }) => this.#stuck.has(id));
    };
    await holdsWithin(isDone, Math.min(msMax, this.#waitMsMax), PROJECTION_POLL_MS);
    for (const { id } of left) this.#stuck.add(id);
    return new Set(left.flatMap(({ projectIds }) => projectIds));
  }
}

/** Compares every day that did not change and is not judged yet; returns the others. */
function judge(
  look: Look,
  judged: Set<string>,
  { losses, tally }: Omit<Verification, 'projection'>,
): Map<string, OpenDay> {
  const { expected, ids, revisions, failed, found, retained, moving, stalled } = look;
  const settled = new Set<string>();
  const open = new Map<string, OpenDay>();
  const counted = [expected.events, ids.counts, revisions, failed, found.events];
  const everything = [...counted, expected.items, ...Object.values(found.items)];
  for (const day of everything.flat()) {
    const key = dayKey(day);
    if (judged.has(key)) continue;
    if (stalled.has(day.projectId)) open.set(key, { ...day, reason: 'waiting' });
    else if (moving.has(key)) open.set(key, { ...day, reason: 'changing' });
    else settled.add(key);
  }
  for (const key of settled) judged.add(key);
  const only = (measurements: readonly Measurement[]) =>
    measurements.filter((measurement) => settled.has(dayKey(measurement)));
  const kept = (measurements: readonly Measurement[]) =>
    only(measurements).filter(({ projectId, day }) => day >= (retained.get(projectId) ?? 0));
  const foundEvents = kept(countedAlike(expected.events, found.events));
  const lossy = losses.explainedDays(kept(expected.events), foundEvents);
  const complete = (measurements: readonly Measurement[]) =>
    measurements.filter((measurement) => !lossy.has(dayKey(measurement)));
  // Where rows were given up, all stores must lack the same ones.
  const rest = found.items.usage_events.filter((measurement) => lossy.has(dayKey(measurement)));
  const expectedItems = kept([...complete(expected.items), ...rest]);
  for (const store of ITEM_STORES) tally.add(store, expectedItems, kept(found.items[store]));
  for (const { store, expected, found: stored } of found.extremes)
    tally.add(store, kept(expected), kept(stored));
  const [events, storedEvents] = [complete(kept(expected.events)), complete(foundEvents)];
  tally.add('usage_events', events, storedEvents);
  const counts = (wanted: Measurement['measure']) =>
    kept(expected.events.filter(({ measure }) => measure === wanted));
  tally.add('usage_event_revisions', counts('correction_count'), kept(revisions));
  tally.add('failed_events', counts('failed_count'), kept(failed));
  const [idCounts, idSums] = [only(ids.counts), complete(kept(only(ids.sums)))];
  tally.add('usage_event_ids', only(eventCounts(expected.events)), idCounts);
  // Where the numbers of events differ, their sums do, too.
  const uneven = unequalDays([events, storedEvents], [eventCounts(events), kept(idCounts)]);
  const even = (measurements: readonly Measurement[]) =>
    measurements.filter((measurement) => !uneven.has(dayKey(measurement)));
  tally.add('usage_event_ids', even(complete(kept(found.ids))), even(idSums));
  tally.addTotals([...only(expected.events), ...only(expected.items)]);
  tally.days += settled.size;
  return open;
}

/** Returns the days on which the two sides of a pair differ. */
function unequalDays(...pairs: readonly (readonly [readonly Measurement[], readonly Measurement[]])[]) {
  const unequal = pairs.flatMap(([left, right]) => compareNumbers(left, right).unequal);
  return new Set(unequal.map(({ at }) => dayKey(at)));
}

/** Processed, failed and voided events of a day together. */
function eventCounts(events: readonly Measurement[]): Measurement[] {
  const counts = new Map<string, Measurement>();
  for (const event of events) {
    if (event.measure === 'unpriced_count' || event.measure === 'correction_count') continue;
    const key = dayKey(event);
    const count = Number(counts.get(key)?.value ?? 0) + Number(event.value);
    counts.set(key, { ...event, measure: 'event_count', value: String(count) });
  }
  return [...counts.values()];
}
