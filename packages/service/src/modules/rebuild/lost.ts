import { LOSSES_LISTED_MAX, type LossReport } from '@tollgate/contract';
import { dayText } from '../../kernel/day-text.js';
import type { ObjectStore } from '../../platform/object-store/index.js';
import { type Postgres, type Tx, transaction } from '../../platform/postgres/index.js';
import {
  ArchiveDamagedError,
  type ArchivedBlock,
  type BlockArchive,
  everyBlock,
  giveUpBlocks,
  holdArchive,
} from '../archive/index.js';
import { type GivingUp, type Lost, type LostPart, recordLoss, tenantsOf } from '../losses/index.js';
import { type Spool, SpoolCorruptError } from '../pipeline/index.js';
import * as store from './lost-store.js';

export interface LostDeps {
  readonly postgres: Postgres;
  /** Undefined if there is none. */
  readonly archive: Pick<BlockArchive, 'check'> | undefined;
  readonly spool: Pick<Spool, 'read'>;
  /** Has the received bytes of segments; undefined if a lost file makes a segment unreadable instead. */
  readonly objects: Pick<ObjectStore, 'get'> | undefined;
}

/** A lost object with the reason why it cannot be used, and what gives it up. */
interface Found extends Lost {
  readonly problem: string;
  /** Removes the row. Returns false if it has changed meanwhile: then nothing is given up. */
  readonly drop: (tx: Tx) => Promise<boolean>;
}

const MISSING = 'is missing';

/**
 * Reads every object to which a row refers, and returns those that are missing or damaged. With `givingUp`, their rows
 * are removed, so that nothing waits for them any more, and the loss is recorded in the same transaction.
 */
export async function findLost(deps: LostDeps, givingUp?: GivingUp): Promise<LossReport> {
  const found: Found[] = [];
  const add = async (lost: Found) => {
    if (givingUp === undefined || (await giveUp(deps, lost, givingUp))) found.push(lost);
  };
  for await (const lost of lostSegments(deps)) await add(lost);
  for await (const lost of segmentsSetAside(deps)) await add(lost);
  for await (const lost of lostBatches(deps)) await add(lost);
  // The upkeep joins blocks, and deletes their objects.
  const { archive, postgres } = deps;
  if (archive !== undefined) {
    await holdArchive(postgres, async () => {
      for await (const lost of lostBlocks({ postgres, archive })) await add(lost);
    });
  }
  return reportOf(found, givingUp !== undefined);
}

function giveUp({ postgres }: LostDeps, lost: Found, givingUp: GivingUp): Promise<boolean> {
  return transaction(postgres, async (tx) => {
    if (!(await lost.drop(tx))) return false;
    await recordLoss(tx, lost, givingUp);
    return true;
  });
}

async function* lostSegments({ postgres, objects }: LostDeps): AsyncGenerator<Found> {
  if (objects === undefined) return;
  for await (const segment of store.outsideSegments(postgres.db)) {
    const { id, objectKey, offset, receivedAtMs, eventCount } = segment;
    if ((await objects.get(objectKey, { offset, byteCount: 1 })) !== undefined) continue;
    if (!(await store.hasSegment(postgres.db, id))) continue;
    const parts = await receivedParts(postgres, segment);
    const drop = (tx: Tx) => store.dropSegment(tx, id);
    yield {
      kind: 'received',
      number: id,
      objectKey,
      problem: MISSING,
      eventCount,
      receivedAtMs,
      parts,
      drop,
    };
  }
}

/** Their bytes are damaged, and in a row of `unreadable_segments`: no object can bring them back. */
async function* segmentsSetAside({ postgres }: Pick<LostDeps, 'postgres'>): AsyncGenerator<Found> {
  for await (const segment of store.unreadableSegments(postgres.db)) {
    const { id, problem, receivedAtMs, eventCount } = segment;
    yield {
      kind: 'received',
      number: id,
      objectKey: `unreadable_segments/${id}`,
      problem: `is unreadable: ${problem}`,
      eventCount,
      receivedAtMs,
      parts: await receivedParts(postgres, segment),
      drop: (tx) => store.dropUnreadable(tx, id),
    };
  }
}

/** Returns the events of each project in a segment. Their days are in its bytes, and not known. */
function receivedParts(
  postgres: Pick<Postgres, 'db'>,
  { projectIds, eventCounts }: Pick<store.OutsideSegment, 'projectIds' | 'eventCounts'>,
): Promise<LostPart[]> {
  const counts = new Map<string, number>();
  for (const [index, projectId] of projectIds.entries())
    counts.set(projectId, (counts.get(projectId) ?? 0) + (eventCounts[index] ?? 0));
  return partsOf(postgres, [...counts.keys()], (projectId) => ({
    eventCount: counts.get(projectId),
    firstDay: undefined,
    lastDay: undefined,
  }));
}

async function* lostBatches({ postgres, spool }: LostDeps): AsyncGenerator<Found> {
  for await (const batch of store.outsideBatches(postgres.db)) {
    const { id, objectKey, receivedAtMs, eventCount } = batch;
    const problem = await problemOf(SpoolCorruptError, () =>
      spool.read({ spoolFile: objectKey, bytes: null }),
    );
    if (problem === undefined || !(await store.hasBatch(postgres.db, id))) continue;
    const parts = await partsOf(postgres, batch.projectIds, daysIn(batch));
    const drop = (tx: Tx) => store.dropBatch(tx, id);
    yield { kind: 'rated', number: id, objectKey, problem, eventCount, receivedAtMs, parts, drop };
  }
}

async function* lostBlocks({
  postgres,
  archive,
}: Pick<LostDeps, 'postgres'> & { readonly archive: Pick<BlockArchive, 'check'> }): AsyncGenerator<Found> {
  for await (const block of everyBlock(postgres.db)) {
    const problem = await problemOf(ArchiveDamagedError, () => archive.check(block.objectKey));
    if (problem !== undefined)
      yield { ...(await lostBlock(postgres, block)), problem, drop: (tx) => dropBlock(tx, block) };
  }
}

async function dropBlock(tx: Tx, block: ArchivedBlock): Promise<boolean> {
  await giveUpBlocks(tx, [block]);
  return true;
}

/** Returns a block of the archive as a lost object. */
export async function lostBlock(postgres: Pick<Postgres, 'db'>, block: ArchivedBlock): Promise<Lost> {
  const { id: number, objectKey, eventCount } = block;
  const parts = await partsOf(postgres, block.projectIds, daysIn(block));
  return { kind: 'archived', number, objectKey, eventCount, receivedAtMs: undefined, parts };
}

/** @returns undefined if nothing is wrong. @throws every error of another kind: the store may be away */
async function problemOf<E extends Error & { readonly problem: string }>(
  kind: abstract new (...args: never[]) => E,
  read: () => Promise<unknown>,
): Promise<string | undefined> {
  try {
    await read();
    return undefined;
  } catch (error) {
    if (error instanceof kind) return error.problem;
    throw error;
  }
}

/** Projects that are not here any more have no part. */
async function partsOf(
  { db }: Pick<Postgres, 'db'>,
  projectIds: readonly string[],
  describe: (projectId: string, index: number) => Pick<LostPart, 'eventCount' | 'firstDay' | 'lastDay'>,
): Promise<LostPart[]> {
  const tenants = await tenantsOf(db, projectIds);
  return projectIds.flatMap((projectId, index) => {
    const tenantId = tenants.get(projectId);
    return tenantId === undefined ? [] : [{ tenantId, projectId, ...describe(projectId, index) }];
  });
}

function daysIn({
  projectIds,
  firstDays,
  lastDay,
  eventCount,
}: Pick<store.OutsideBatch, 'projectIds' | 'firstDays' | 'lastDay' | 'eventCount'>) {
  return (_projectId: string, index: number) => ({
    eventCount: projectIds.length === 1 ? eventCount : undefined,
    firstDay: firstDays[index],
    lastDay: lastDay ?? undefined,
  });
}

function reportOf(found: readonly Found[], isGivenUp: boolean): LossReport {
  return {
    object_count: found.length,
    event_count: found.reduce((sum, { eventCount }) => sum + eventCount, 0),
    given_up: isGivenUp,
    objects: found.slice(0, LOSSES_LISTED_MAX).map((lost) => ({
      ...{ kind: lost.kind, number: lost.number, object_key: lost.objectKey, problem: lost.problem },
      event_count: lost.eventCount,
      received_at: lost.receivedAtMs === undefined ? null : Math.floor(lost.receivedAtMs / 1_000),
      projects: lost.parts.map(({ tenantId, projectId, eventCount, firstDay, lastDay }) => ({
        ...{ tenant_id: tenantId, project_id: projectId, event_count: eventCount ?? null },
        ...{ first_day: textOrNull(firstDay), last_day: textOrNull(lastDay) },
      })),
    })),
  };
}

function textOrNull(day: number | undefined): string | null {
  return day === undefined ? null : dayText(day);
}
