import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { CorrectionsProject } from './project.testing.js';

const AMOUNT = {
  ...{ measure: 'amount', selector_type: 'all', currency: 'USD', limit_amount: '100', action: 'notify' },
} as const;
const RULES = ['day', '5m', 'first_use:5h', 'sliding:1h'].map((period) => ({
  ...AMOUNT,
  ...{ limit_key: period.replace(':', '_'), period },
}));

let fixture: CorrectionsFixture;
let project: CorrectionsProject;
let early: string;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());
/** An event is rated, and only then a limit plan is bound to its subject: no window has counted the event. */
beforeEach(async () => {
  project = await CorrectionsProject.create(fixture, { token: '1' });
  const { id: routeId, accountId } = await project.route('c1');
  [early = ''] = await project.sendAndRate([{ customer: 'c1', n: 10 }]);
  fixture.clock.advanceMs(100_000);
  const plan = { name: 'plan', title: 'Plan', rules: RULES };
  const { id: planId } = await project.must(201, 'POST', '/usage-limit-plans', plan);
  await project.must(200, 'POST', `/usage-limit-plans/${planId}/publish`);
  await project.must(200, 'PUT', `/subject-routes/${routeId}`, {
    ...{ subject_type: 'customer', subject_id: 'c1' },
    account_id: accountId,
    usage_limit_plan_id: planId,
  });
  fixture.clock.advanceMs(100_000);
});

async function used(): Promise<string[]> {
  const rows = await fixture.rows<{ text: string }>(
    `select concat_ws(' ', r.period, trim_scale(sum(w.used))) as text
     from (select project_no, rule_no, used from limit_windows union all
       select project_no, rule_no, used from sliding_steps) w
       join projects p on p.no = w.project_no join limit_rules r on r.no = w.rule_no
     where p.id = $1 group by r.period order by 1`,
    [project.projectId],
  );
  return rows.map(({ text }) => text);
}

async function expectUsed(...expected: readonly string[]): Promise<void> {
  expect(await used()).toEqual(expected);
  expect((await fixture.verify()).postings).toMatchObject({ difference_count: 0, differences: [] });
}

it('is taken back from the windows of its time, also below zero, and restored', async () => {
  await project.sendAndRate([{ customer: 'c1', n: 5 }], 0);
  await expectUsed('5m 5', 'day 5', 'first_use:300m 5', 'sliding:60m 5');
  const { id } = await project.void(early);
  await expectUsed('5m -5', 'day -5', 'first_use:300m 5', 'sliding:60m -5');
  await project.sendAndRate([{ customer: 'c1', n: 7 }], 0);
  await expectUsed('5m 2', 'day 2', 'first_use:300m 12', 'sliding:60m 2');
  await project.change(id, 'revert');
  await expectUsed('5m 12', 'day 12', 'first_use:300m 12', 'sliding:60m 12');
});

it('opens no window that begins with usage, taken back or restored; a difference does', async () => {
  const { id } = await project.void(early);
  await expectUsed('5m -10', 'day -10', 'sliding:60m -10');
  await project.change(id, 'revert');
  await expectUsed('5m 0', 'day 0', 'sliding:60m 0');
  await project.replace(early, { customer: 'c1', n: 12 });
  await expectUsed('5m 2', 'day 2', 'first_use:300m 2', 'sliding:60m 2');
});

it('leaves the windows of other usage as they were, whatever is corrected in which order', async () => {
  const contents = [3, 4, 2].map((n) => ({ customer: 'c1', n }));
  const ids = await project.sendAndRate(contents, 0);
  const before = await used();
  const voided = [];
  for (const id of [ids[1] ?? '', early, ids[0] ?? '']) voided.push(await project.void(id));
  const raised = await project.replace(ids[2] ?? '', { customer: 'c1', n: 20 });
  await expectUsed('5m 10', 'day 10', 'first_use:300m 20', 'sliding:60m 10');
  for (const { id } of [raised, ...voided]) await project.change(id, 'revert');
  await expectUsed(...before);
  expect(fixture.defects).toEqual([]);
});
