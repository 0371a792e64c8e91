import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { countedProject } from './counted.testing.js';
import { CorrectionsProject } from './project.testing.js';

let fixture: CorrectionsFixture;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());

const MONTHLY = { selector_type: 'all', period: 'month', action: 'notify' } as const;
const RULES = [
  { ...MONTHLY, limit_key: 'spend', measure: 'amount', currency: 'USD', limit_amount: '1000' },
  { ...MONTHLY, limit_key: 'models', measure: 'unique', of: 'model', limit_amount: '10' },
];

/** Creates a route below a parent. */
async function routeOf(project: CorrectionsProject, id: string, parent: string | null, planId?: string) {
  const body = {
    subject_type: 'customer',
    subject_id: id,
    ...(parent === null ? {} : { parent: subjectOf(parent) }),
    ...(planId === undefined ? {} : { usage_limit_plan_id: planId }),
  };
  return project.must(201, 'POST', '/subject-routes', body);
}

const subjectOf = (id: string) => ({ subject_type: 'customer', subject_id: id });

/** Returns the usage of each subject, by rule. */
async function usedBy(project: CorrectionsProject): Promise<string[]> {
  const rows = await fixture.rows<{ text: string }>(
    `select concat_ws(' ', w.subject_id, r.measure, trim_scale(w.used)) as text
     from limit_windows w join projects p on p.no = w.project_no join limit_rules r on r.no = w.rule_no
     where p.id = $1 and w.used <> 0 order by w.subject_id, r.measure`,
    [project.projectId],
  );
  return rows.map(({ text }) => text);
}

/** More than the time after a change for which verify compares with bounds. */
const SETTLED_MS = 100_000;

/** Expects that verify finds the same, and compares so many windows exactly. */
async function expectVerified(windows: number): Promise<void> {
  expect((await fixture.verify()).postings).toMatchObject({ difference_count: 0, windows });
}

describe('usage at several levels', () => {
  it('is taken back where it counted, whatever is above the subject now; another subject counts where it is', async () => {
    const project = await CorrectionsProject.create(fixture);
    const { id: planId } = await project.must(201, 'POST', '/usage-limit-plans', {
      name: 'levels',
      title: 'Levels',
      rules: RULES,
    });
    await project.must(200, 'POST', `/usage-limit-plans/${planId}/publish`);
    const acme = await routeOf(project, 'acme', null, planId);
    const other = await routeOf(project, 'other', null, planId);
    const ada = await routeOf(project, 'ada', 'acme', planId);
    await routeOf(project, 'bob', 'other', planId);
    fixture.clock.advanceMs(SETTLED_MS);
    const content = { customer: 'ada', n: 4, model: 'large' };
    const [first = '', second = ''] = await project.sendAndRate([content, { ...content, model: 'small' }]);
    const counted = ['acme amount 4', 'acme unique 2', 'ada amount 4', 'ada unique 2'];
    expect(await usedBy(project)).toEqual(counted);
    expect((await project.event(first)).account_id).toBe(acme.account_id);

    await project.must(200, 'PUT', `/subject-routes/${ada.id}`, { parent: subjectOf('other') });
    expect(await usedBy(project)).toEqual(counted);
    const [late = ''] = await project.sendAndRate([{ ...content, n: 2 }], 1_000);
    const moved = ['ada amount 5', 'ada unique 2', 'other amount 1', 'other unique 1'];
    expect(await usedBy(project)).toEqual(['acme amount 4', 'acme unique 2', ...moved]);
    expect((await project.event(late)).account_id).toBe(other.account_id);
    await expectVerified(4);

    const voided = await project.void(first);
    const afterVoid = ['acme amount 2', 'acme unique 1', 'ada amount 3', 'ada unique 2'];
    expect(await usedBy(project)).toEqual([...afterVoid, 'other amount 1', 'other unique 1']);
    const replaced = await project.replace(second, { ...content, n: 10, model: 'small' });
    expect(await usedBy(project)).toEqual([
      ...['acme amount 5', 'acme unique 1', 'ada amount 6', 'ada unique 2'],
      ...['other amount 1', 'other unique 1'],
    ]);
    await project.replace(late, { customer: 'bob', n: 2, model: 'large' });
    expect(await usedBy(project)).toEqual([
      ...['acme amount 5', 'acme unique 1', 'ada amount 5', 'ada unique 1'],
      ...['bob amount 1', 'bob unique 1', 'other amount 1', 'other unique 1'],
    ]);
    await expectVerified(6);

    for (const { id } of [replaced, voided]) {
      await project.must(202, 'POST', `/usage/corrections/${id}/revert`);
      await fixture.finish();
    }
    expect(await usedBy(project)).toEqual([
      ...['acme amount 4', 'acme unique 2', 'ada amount 4', 'ada unique 2'],
      ...['bob amount 1', 'bob unique 1', 'other amount 1', 'other unique 1'],
    ]);
    await expectVerified(6);
  });

  it('counts at the levels of now if there was no route, also if the event had an amount of another subject', async () => {
    const project = await countedProject(fixture, {
      total: 'tier_graduated(total.quantity, [[10, "2"], [null, "1"]])',
      cumulative: { per: 'account' },
    });
    await project.route('ada');
    const [first = ''] = await project.sendAndRate([
      { customer: 'ada', n: 8 },
      { customer: 'ada', n: 8 },
    ]);
    await project.replace(first, { customer: 'bob', n: 8 });
    expect(await project.event(first)).toMatchObject({
      posting: 'posted',
      charge_items: [{ pricing_source: 'unpriced' }, { amount: '6', source: 'correction' }],
    });
    const plan = { name: 'levels', title: 'Levels', rules: RULES.slice(0, 1) };
    const { id: planId } = await project.must(201, 'POST', '/usage-limit-plans', plan);
    await project.must(200, 'POST', `/usage-limit-plans/${planId}/publish`);
    await routeOf(project, 'acme', null, planId);
    await routeOf(project, 'bob', 'acme');
    const filter = { ...project.everything, subject_id: 'bob' };
    expect(await project.correct({ filter })).toMatchObject({ status: 'applied', events_changed: 1 });
    expect(await usedBy(project)).toEqual(['acme amount 22']);
  });
});
