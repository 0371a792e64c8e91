import { afterAll, beforeAll, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { countedItems, countedProject, steps } from './counted.testing.js';

/** More than the time after a change for which verify compares with bounds. */
const SETTLED_MS = 100_000;

let fixture: CorrectionsFixture;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());

it('a price that falls at a step credits the wallet as returned money does, and lowers windows', async () => {
  const project = await countedProject(fixture, {
    total: 'tier_volume(total.quantity, [[10, "2"], [null, "1"]])',
  });
  const limit = { period: 'month', action: 'notify', selector_type: 'all', limit_amount: '15' };
  const rules = [{ ...limit, limit_key: 'spend', measure: 'amount', currency: 'USD' }];
  const plan = { name: 'plan', title: 'Plan', rules };
  const { id: planId } = await project.must(201, 'POST', '/usage-limit-plans', plan);
  await project.must(200, 'POST', `/usage-limit-plans/${planId}/publish`);
  const { accountId } = await project.route('a', planId);
  const wallet = `/accounts/${accountId}/wallets/USD`;
  await project.must(201, 'POST', `${wallet}/credits`, { amount: '20' }, { 'idempotency-key': 'one' });
  fixture.clock.advanceMs(SETTLED_MS);

  const stateOf = async () => {
    const { credits } = await project.get(`${wallet}/credits`);
    const [window] = await fixture.rows<{ used: string }>(
      `select trim_scale(w.used)::text as used from limit_windows w
       join limit_rules r on r.no = w.rule_no where r.project_id = $1`,
      [project.projectId],
    );
    const alerts = await fixture.rows<{ type: string }>(
      `select type from webhook_messages where project_id = $1 and type like 'usage_limit.%' order by id`,
      [project.projectId],
    );
    return {
      balance: await project.balance(accountId),
      remaining: credits.map(({ remaining }: { remaining: string }) => remaining),
      used: window?.used,
      alerts: alerts.map(({ type }) => type),
    };
  };
  const first = await countedItems(project, [{ customer: 'a', n: 9 }]);
  expect(await stateOf()).toEqual({
    ...{ balance: '2', remaining: ['2'], used: '18', alerts: ['usage_limit.exceeded'] },
  });
  const second = await countedItems(project, [{ customer: 'a', n: 2 }]);
  expect(steps([...first, ...second])).toEqual([
    ['18', '0', '9'],
    ['-7', '9', '11'],
  ]);
  expect(await stateOf()).toEqual({
    ...{ balance: '9', remaining: ['9'], used: '11' },
    alerts: ['usage_limit.exceeded', 'usage_limit.recovered'],
  });
  const nothing = { difference_count: 0 };
  expect(await fixture.verify()).toMatchObject({ status: 'equal', ledger: nothing, postings: nothing });
});
