import { afterAll, beforeAll, expect, it } from 'vitest';
import { waitFor } from '../../testing/index.js';
import type { BlockReader } from '../storage/index.js';
import type { OpenCorrection } from './correction.js';
import { CorrectionsFixture } from './corrections.testing.js';
import type { EngineDeps } from './engine.js';
import { type PartChange, partStep } from './part-step.js';
import { CorrectionsProject } from './project.testing.js';
import { StepRows } from './step-rows.js';
import { takeTurn } from './turn-store.js';

let fixture: CorrectionsFixture;
/** Two corrections of the same events, with a part for each. */
let first: OpenCorrection;
let second: OpenCorrection;
/** The event of each part. */
let eventIds: string[];
let project: CorrectionsProject;

beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
  fixture.partEvents = 1;
  project = await CorrectionsProject.create(fixture);
  await project.sendAndRate([1, 2, 3, 4].map((n) => ({ customer: 'a', n })));
  [first, second] = await Promise.all([planned(), planned()]);
  const parts = await fixture.rows<{ id: string }>(
    `select encode(uuid_send(raw_event_ids[1]), 'hex') as id from usage_correction_parts
     where correction_id = $1 order by no`,
    [first.id],
  );
  eventIds = parts.map(({ id }) => id);
});
afterAll(() => fixture.close());

async function planned(): Promise<OpenCorrection> {
  const { id } = await project.correct({ action: 'void', dry_run: true });
  const [row] = await fixture.rows<{ no: number }>('select no from projects where id = $1', [
    project.projectId,
  ]);
  const { tenantId, projectId } = project;
  const ref = { tenantId, projectId, projectNo: row?.no ?? 0, storage: 'shared' };
  return { id, action: 'void', status: 'applying', partCount: 4, project: ref } as unknown as OpenCorrection;
}

/** Returns the reader of a process, which notes the parts that it asks ClickHouse for; one question can fail. */
function reader({ failing = 0, stepBytesMax }: { failing?: number; stepBytesMax?: number } = {}) {
  const { clickhouse } = fixture.house;
  const asked: unknown[] = [];
  const noting = async (tables: readonly string[]): Promise<BlockReader> => {
    const found = await clickhouse.upToDate(tables);
    return {
      query: found.query.bind(found),
      exportRowsUpTo: (...question) => {
        asked.push(eventIds.indexOf(String(question[2]?.ids)));
        return asked.length === failing
          ? Promise.reject(new Error('lost'))
          : found.exportRowsUpTo(...question);
      },
    };
  };
  const { api, history, clock } = fixture;
  const bounds = { partEvents: 1, partsPerStep: 1, ...(stepBytesMax === undefined ? {} : { stepBytesMax }) };
  const deps = { postgres: api.postgres, clickhouse: { upToDate: noting }, history, clock, ...bounds };
  const rows = new StepRows(deps);
  return {
    async read(correction: OpenCorrection, nextPart: number): Promise<void> {
      const { parts, revisions } = await rows.ofParts({ ...correction, nextPart });
      expect(parts.map((part) => part?.no)).toEqual([nextPart]);
      expect(revisions.latest(eventIds[nextPart] ?? '')).toMatchObject({ corrections: 0 });
      rows.readNext();
    },
    ofParts: (correction: OpenCorrection, nextPart: number) => rows.ofParts({ ...correction, nextPart }),
    readNext: () => rows.readNext(),
    asked,
    step: (correction: OpenCorrection, eventsOf: PartChange['eventsOf']) =>
      partStep({ ...deps, rows } as unknown as EngineDeps, correction, {
        verb: 'apply',
        eventsOf,
        record: async () => {},
      }),
    async expectAsked(parts: readonly number[]): Promise<void> {
      await waitFor(() => asked.length >= parts.length);
      expect([...asked].sort()).toEqual(parts);
    },
  };
}

it('the rows of the next step are read while a step works, and are not read again', async () => {
  const rows = reader();
  await rows.read(first, 0);
  await rows.expectAsked([0, 1]);
  for (const part of [1, 2, 3]) await rows.read(first, part);
  await rows.expectAsked([0, 1, 2, 3]);
});

it('a step that is repeated reads its rows anew', async () => {
  const rows = reader();
  for (const part of [0, 1, 1]) await rows.read(first, part);
  await rows.expectAsked([0, 1, 1, 2, 2]);
});

it('rows are read ahead for one correction at a time', async () => {
  const rows = reader();
  await rows.read(first, 0);
  for (const part of [0, 1]) await rows.read(second, part);
  await rows.read(first, 1);
  await rows.expectAsked([0, 0, 1, 1, 2]);
});

it('rows that were read ahead for too long are read again, and give way to those of others', async () => {
  const rows = reader();
  await rows.read(first, 0);
  fixture.clock.advanceMs(10_001);
  for (const part of [0, 1]) await rows.read(second, part);
  await rows.read(first, 1);
  await rows.expectAsked([0, 0, 1, 1, 1, 2]);
});

it('a step reads its rows itself where they could not be read ahead', async () => {
  const rows = reader({ failing: 2 });
  for (const part of [0, 1]) await rows.read(first, part);
  await rows.expectAsked([0, 1, 1, 2]);
});

it('a part whose rows are too many is read whole by its step, and not ahead', async () => {
  fixture.partEvents = 2;
  const pairs = { ...(await planned()), partCount: 2 };
  const rows = reader({ stepBytesMax: 1 });
  // A question for both events has no answer within the bound; then each event is asked for.
  const ofStep = [-1, 0, 1];
  await rows.ofParts(pairs, 0);
  expect(rows.asked).toEqual(ofStep);
  rows.readNext();
  const { parts, revisions } = await rows.ofParts(pairs, 1);
  expect([parts.map((part) => part?.no), revisions.size]).toEqual([[1], 2]);
  expect(rows.asked).toEqual([...ofStep, -1, 2, -1, 2, 3]);
});

it('a step that waits reads no rows ahead', async () => {
  const rows = reader();
  expect(await rows.step({ ...first, nextPart: 0 }, async () => 'wait')).toBe('wait');
  for (const part of [0, 1, 2, 3]) await rows.read(first, part);
  await rows.expectAsked([0, 0, 1, 2, 3]);
});

it('neither does one that waits until ClickHouse has kept up', async () => {
  await project.must(202, 'POST', `/usage/corrections/${first.id}/apply`);
  const { clock, api } = fixture;
  const applying = await takeTurn(api.postgres, clock.nowMs(), 0);
  if (applying === undefined) throw new Error('no correction is due');
  const rows = reader();
  await fixture.rows(
    `insert into usage_batches (created_at_ms, oldest_received_at_ms, event_count, item_count, byte_count, project_ids,
      spool_file) values (0, 0, 1, 1, 300000000, '{prj_1}', 'none')`,
  );
  expect(await rows.step(applying, async () => [])).toBe('wait');
  await fixture.rows(`delete from usage_batches where spool_file = 'none'`);
  expect(await rows.step(applying, async () => [])).toBe('done');
  await rows.read(first, 1);
  await rows.expectAsked([0, 0, 1, 2]);
});
