import { expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { CorrectionsProject } from './project.testing.js';

it('a step plans as many events as it may, also if they have several revisions', async () => {
  const fixture = await CorrectionsFixture.open();
  fixture.partsPerStep = 1;
  const project = await CorrectionsProject.create(fixture);
  await project.sendAndRate([1, 2, 3, 4].map((n) => ({ customer: 'a', n })));
  const { id } = await project.correct({ action: 'void' });
  await project.change(id, 'revert');
  const plan = await project.correct({ action: 'void', dry_run: true });
  expect(plan).toMatchObject({ status: 'planned', events_changed: 4 });
  const parts = await fixture.rows(
    'select cardinality(raw_event_ids) as events from usage_correction_parts where correction_id = $1 order by no',
    [plan.id],
  );
  expect(parts).toEqual([{ events: 3 }, { events: 1 }]);
  await fixture.close();
});
