import { EVENT_REVISIONS_MAX } from '@tollgate/contract';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { usageRow } from '../../testing/index.js';
import { CorrectionsFixture } from './corrections.testing.js';
import { voided } from './outcome.js';
import { CorrectionsProject } from './project.testing.js';
import { StepPlan } from './step-plan.js';

/** Two events have more JSON than one part should. */
const FILLER = 'x'.repeat(9 * 1_048_576);

let fixture: CorrectionsFixture;
let project: CorrectionsProject;
let accountId: string;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
  fixture.partEvents = 100;
});
afterAll(() => fixture.close());
beforeEach(async () => {
  project = await CorrectionsProject.create(fixture, { token: '1' });
  accountId = (await project.route('c1')).accountId;
});

it('takes large events back in small parts, and restores them', async () => {
  for (const n of [1, 2, 4]) await project.sendAndRate([{ customer: 'c1', n, filler: FILLER }]);
  const { id } = await project.correct({ action: 'void', dry_run: true });
  const parts = await fixture.rows<{ events: number }>(
    'select cardinality(raw_event_ids) as events from usage_correction_parts where correction_id = $1 order by no',
    [id],
  );
  expect(parts.map(({ events }) => events)).toEqual([2, 1]);
  expect(await project.change(id, 'apply')).toMatchObject({ status: 'applied', applied: { events: 3 } });
  expect(await project.balance(accountId)).toBe('0');
  expect(await project.change(id, 'revert')).toMatchObject({ status: 'reverted' });
  expect(await project.balance(accountId)).toBe('-7');
});

it('does not correct an event with very much history again, but reverts what was done', async () => {
  const [eventId = ''] = await project.sendAndRate([{ customer: 'c1', n: 1, filler: FILLER }]);
  const revive = () => project.correct({ filter: { ...project.everything, status: 'voided' } });
  const done = [await project.void(eventId), await revive(), await project.void(eventId)];
  expect(done.map(({ events_changed: changed }) => changed)).toEqual([1, 1, 1]);
  expect(await revive()).toMatchObject({
    ...{ status: 'applied', events_matched: 1, events_changed: 0 },
    events_failed: [{ code: 'too_many_revisions', count: 1 }],
  });
  const message = expect.stringMatching(/33554432.*EVENT_HISTORY_BYTES_MAX/);
  expect(await project.replace(eventId, { customer: 'c1', n: 5 })).toMatchObject({
    ...{ status: 'failed', events_changed: 0, failure: { code: 'too_many_revisions', message } },
  });
  for (const { id } of done.toReversed())
    expect(await project.change(id, 'revert')).toMatchObject({ status: 'reverted' });
  expect(await project.balance(accountId)).toBe('-1');
  expect(await project.void(eventId)).toMatchObject({
    status: 'failed',
    failure: { code: 'too_many_revisions' },
  });
});

it.each([EVENT_REVISIONS_MAX - 1, EVENT_REVISIONS_MAX])(
  'plans an event with %i revisions, or not',
  (count) => {
    const plan = new StepPlan({
      partEvents: 10,
      hasOutcomes: false,
      revisions: { jsonBytesOf: () => 1, historyOf: () => ({ revisions: count, jsonBytes: count }) },
    });
    const former = usageRow({});
    plan.add({ id: 'a', former, outcome: voided(former), counts: [] });
    const isFull = count === EVENT_REVISIONS_MAX;
    expect([plan.changed, plan.failed.map(({ code }) => code)]).toEqual(
      isFull ? [0, ['too_many_revisions']] : [1, []],
    );
  },
);
