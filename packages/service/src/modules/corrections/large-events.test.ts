import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { CorrectionsProject } from './project.testing.js';

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
