import type { BacktestResult, Correction, Cumulative } from '@tollgate/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { countedProject, countedRules } from './counted.testing.js';
import { STORED_COUNTERS } from './counted-rows.testing.js';
import type { CorrectionsProject, TestContent } from './project.testing.js';

const GRADUATED = 'tier_graduated(total.quantity, [[10, "2.13"], [null, "1.07"]])';
const VOLUME = 'tier_volume(total.quantity, [[10, "3.71"], [null, "2.93"]])';

let fixture: CorrectionsFixture;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());

interface Tested {
  readonly id: string;
  readonly result: BacktestResult;
}

/** Tests rules on the usage of a project. */
async function tested(project: CorrectionsProject, rules: object = {}, range = {}): Promise<Tested> {
  const time_range = { ...project.everything, ...range };
  const asked = { extractor_rule_set_id: project.ruleSetId, time_range, ...rules };
  const { id } = await project.must(200, 'POST', '/rules/backtest', asked);
  return project.get(`/rules/backtests/${id}`);
}

/** Applies a backtest; returns the correction when it has ended. */
async function applied(project: CorrectionsProject, backtestId: string): Promise<Correction> {
  const asked = { action: 'rerate', backtest_id: backtestId, reason: 'test' };
  const { id } = await project.must(202, 'POST', '/usage/corrections', asked);
  return project.ended(id);
}

/** How each usage is counted, one charge item for each. */
const COUNTED: Readonly<Record<string, Partial<Cumulative>>> = {
  subject: {},
  model: { by: ['model'] },
  project: { per: 'project' },
  account: { per: 'account' },
  lifetime: { period: 'lifetime' },
  count: { aggregate: 'count' },
  max: { aggregate: 'max' },
  unique: { aggregate: 'unique', of: 'model' },
};

/** Rules that count the same usage in all ways. */
function everyCounter(total: string) {
  const items = Object.entries(COUNTED).flatMap(
    ([counter, cumulative]) =>
      countedRules({ total, cumulative: { ...cumulative, counter } }).charge_item_extractors,
  );
  const metrics = Object.keys(COUNTED);
  const named = items.map((item, index) => ({ ...item, name: metrics[index], metric: metrics[index] }));
  return { ...countedRules({ total }), charge_item_extractors: named };
}

/** Sends events one batch after the other, each at its own time, and not in the order of their times. */
async function sendAll(project: CorrectionsProject, contents: readonly TestContent[]): Promise<number[]> {
  const times: number[] = [];
  for (const [index, content] of contents.entries()) {
    const agoS = 100 + ((index * 37) % 50);
    times.push(fixture.nowS - agoS);
    await project.send([content], agoS);
    await fixture.rate();
  }
  await fixture.settle();
  return times;
}

const USAGE = [
  { customer: 'a', n: 4, model: 'x' },
  { customer: 'b', n: 9 },
  { customer: 'a', n: 8, model: 'y' },
  { customer: 'a', n: 5, model: 'x' },
  { customer: 'b', n: 3.5, model: 'x' },
  { customer: 'a', n: 0 },
  { customer: 'a', n: 7.25, model: 'x' },
] as const satisfies readonly TestContent[];

/** Publishes rules with the other price. */
async function publishVolume(project: CorrectionsProject): Promise<void> {
  const url = `/extractor-rule-sets/${project.ruleSetId}`;
  await project.must(200, 'PUT', url, countedRules({ total: VOLUME }));
  await project.must(200, 'POST', `${url}/publish`);
}

/** Prices of totals in hundredths, of quantities in hundredths: × 10^4. */
const ORACLE = {
  [GRADUATED]: (total: number) => Math.min(total, 1_000) * 213 + Math.max(total - 1_000, 0) * 107,
  [VOLUME]: (total: number) => total * (total <= 1_000 ? 371 : 293),
};

/** Returns what each event costs by the total of its customer, in the order of rating. */
function costs(priceOf: (total: number) => number): number[] {
  const totals = new Map<string, number>();
  return USAGE.map(({ customer, n }) => {
    const before = totals.get(customer) ?? 0;
    totals.set(customer, before + n * 100);
    return priceOf(before + n * 100) - priceOf(before);
  });
}

const sum = (costs: readonly number[]) => costs.reduce((total, cost) => total + cost, 0);
const tenThousandths = (amount: string | undefined) => Math.round(Number(amount ?? 0) * 10_000);

describe('a backtest of prices by totals', () => {
  it('shows no difference by the same rules, however usage is counted', async () => {
    const project = await countedProject(fixture, { total: GRADUATED });
    const rules = everyCounter(GRADUATED);
    await project.must(200, 'PUT', `/extractor-rule-sets/${project.ruleSetId}`, rules);
    await project.must(200, 'POST', `/extractor-rule-sets/${project.ruleSetId}/publish`);
    const cost = { name: 'Costs', purpose: 'cost', extractor_rule_set_id: project.ruleSetId };
    const { id } = await project.must(201, 'POST', '/pricing-rule-sets', {
      ...cost,
      rules: [{ name: 'cost', metric: 'subject', unit_price_expr: 'dec("0.1")' }],
    });
    await project.must(200, 'POST', `/pricing-rule-sets/${id}/publish`);
    await project.route('a');
    const times = await sendAll(project, USAGE);
    const middle = times.toSorted((a, b) => a - b)[3] ?? 0;
    const { effective_from: _from, ...extractor } = rules;
    for (const tests of [{}, { extractor }])
      for (const range of [{}, { from: middle }, { to: middle }]) {
        const { result } = await tested(project, tests, range);
        expect(result).toMatchObject({ changed_count: 0, examples: [], newly_failed: [] });
        expect(result.event_count).toBe('from' in range ? 4 : 'to' in range ? 3 : 7);
        for (const { before, after } of result.totals) expect(after).toEqual(before);
      }
  });

  it('is not applied with rules that are not saved, because counters belong to saved ones', async () => {
    const project = await countedProject(fixture, { total: GRADUATED });
    await sendAll(project, USAGE.slice(0, 2));
    const { effective_from: _from, ...extractor } = countedRules({ total: VOLUME });
    const { id } = await tested(project, { extractor });
    const asked = { action: 'rerate', backtest_id: id, reason: 'test' };
    const { details } = await project.must(400, 'POST', '/usage/corrections', asked);
    expect(details).toMatchObject([{ path: 'backtest_id', message: expect.stringContaining('save them') }]);
  });

  it('shows the exact difference by other rules, also of a part of a period, and is applied', async () => {
    const project = await countedProject(fixture, { total: GRADUATED });
    const times = await sendAll(project, USAGE);
    await publishVolume(project);
    const [former, next] = [costs(ORACLE[GRADUATED]), costs(ORACLE[VOLUME])];
    for (const from of times) {
      const { result } = await tested(project, {}, { from });
      const inside = (_: number, index: number) => (times[index] ?? 0) >= from;
      const [total] = result.totals;
      expect(tenThousandths(total?.before.amount)).toBe(sum(former.filter(inside)));
      expect(tenThousandths(total?.after.amount)).toBe(sum(next.filter(inside)));
    }
    const { id, result } = await tested(project);
    expect(result.event_count).toBe(7);
    const corrected = await applied(project, id);
    expect(corrected).toMatchObject({ status: 'applied' });
    const counted = await fixture.rows<{ amount: string }>(
      `select sum(amount)::text as amount from ${STORED_COUNTERS} where project_id = $1`,
      [project.projectId],
    );
    expect(tenThousandths(counted[0]?.amount)).toBe(sum(next));
    expect((await tested(project)).result).toMatchObject({ changed_count: 0 });
  });

  it('counts the events in force alone after a correction, as if no other had been rated', async () => {
    const project = await countedProject(fixture, { total: GRADUATED });
    const [first = ''] = await project.sendAndRate([8, 8, 5].map((n) => ({ customer: 'a', n })));
    await project.void(first);
    const { result } = await tested(project);
    const { quantity, amount, item_count: items } = result.totals[0]?.after ?? {};
    expect([quantity, items]).toEqual(['13', 2]);
    expect(tenThousandths(amount)).toBe(ORACLE[GRADUATED](Number(quantity) * 100));
  });

  it('counts what voided usage still costs as charged, and is applied', async () => {
    const project = await countedProject(fixture, { total: GRADUATED });
    const [first = ''] = await project.sendAndRate([8, 8, 5].map((n) => ({ customer: 'a', n })));
    await project.void(first);
    const same = (await tested(project)).result.totals[0];
    expect(same?.before).toMatchObject({ amount: same?.after.amount, item_count: 2 });
    await publishVolume(project);
    const { id, result } = await tested(project);
    const [total] = result.totals;
    expect([total?.before, total?.after].map((sums) => tenThousandths(sums?.amount))).toEqual([
      ORACLE[GRADUATED](1_300),
      ORACLE[VOLUME](1_300),
    ]);
    const corrected = await applied(project, id);
    expect(corrected).toMatchObject({ status: 'applied' });
    expect(tenThousandths(corrected.totals[0]?.amount.delta)).toBe(
      ORACLE[VOLUME](1_300) - ORACLE[GRADUATED](1_300),
    );
  });

  it('of metrics that share a counter is applied in the order of rating, also where usage was late', async () => {
    const rulesOf = (total: string) => {
      const rules = countedRules({ total });
      const [tokens] = rules.charge_item_extractors;
      return {
        ...rules,
        charge_item_extractors: [tokens, { ...tokens, metric: 'llm.calls', path: 'calls' }],
      };
    };
    const project = await countedProject(fixture, { total: GRADUATED });
    const path = `/extractor-rule-sets/${project.ruleSetId}`;
    const publish = async (total: string) => {
      await project.must(200, 'PUT', path, rulesOf(total));
      await project.must(200, 'POST', `${path}/publish`);
    };
    await publish(GRADUATED);
    const [first = ''] = await project.sendAndRate([{ customer: 'a', n: 8, calls: 0 }], 100);
    const [late = ''] = await project.sendAndRate([{ customer: 'a', n: 0, calls: 6 }], 200);
    await publish(VOLUME);
    const { id, result } = await tested(project);
    const expected = [ORACLE[VOLUME](1_400) - ORACLE[VOLUME](800), ORACLE[VOLUME](800)];
    const [calls, tokens] = result.totals;
    expect([calls, tokens].map((total) => tenThousandths(total?.after.amount))).toEqual(expected);
    const corrected = await applied(project, id);
    expect(corrected).toMatchObject({ status: 'applied', events_changed: result.changed_count });
    const byMetric = corrected.totals.toSorted((a, b) => (a.metric < b.metric ? -1 : 1));
    expect(byMetric.map(({ amount }) => tenThousandths(amount.after))).toEqual(expected);
    const amounts = await Promise.all(
      [late, first].map(async (event) =>
        sum(
          (await project.event(event)).charge_items.map(({ amount }: { amount: string }) =>
            tenThousandths(amount),
          ),
        ),
      ),
    );
    expect(amounts).toEqual(expected);
  });

  it('is applied after a void or a replacement that has left an amount in the period', async () => {
    for (const change of ['void', 'replace', 'void twice'] as const) {
      const project = await countedProject(fixture, { total: GRADUATED });
      const { accountId } = await project.route('a');
      const [first = '', second = ''] = await project.sendAndRate(
        [8, 8, 5].map((n) => ({ customer: 'a', n })),
      );
      if (change === 'replace') await project.replace(first, { customer: 'b', n: 8 });
      else await project.void(first);
      fixture.clock.advanceMs(1_000);
      if (change === 'void twice') await project.void(second);
      fixture.clock.advanceMs(1_000);
      await publishVolume(project);
      const balance = Number(await project.balance(accountId));
      const left = change === 'void twice' ? 500 : 1_300;
      const { id, result } = await tested(project);
      const [total] = result.totals;
      const other = change === 'replace' ? [800] : [];
      const charged = sum([left, ...other].map(ORACLE[GRADUATED]));
      const anew = sum([left, ...other].map(ORACLE[VOLUME]));
      expect(tenThousandths(total?.before.amount)).toBe(charged);
      expect(tenThousandths(total?.after.amount)).toBe(anew);
      expect(total?.before.item_count).toBe(total?.after.item_count);
      const corrected = await applied(project, id);
      expect(corrected).toMatchObject({ status: 'applied' });
      const ofOwner = ORACLE[GRADUATED](left) - ORACLE[VOLUME](left);
      expect(tenThousandths(String(Number(await project.balance(accountId)) - balance))).toBe(ofOwner);
      await project.must(202, 'POST', `/usage/corrections/${corrected.id}/revert`);
      expect(await project.ended(corrected.id)).toMatchObject({ status: 'reverted' });
      expect(Number(await project.balance(accountId))).toBe(balance);
    }
  });

  it('is stale after a void, or another event, in between', async () => {
    const project = await countedProject(fixture, { total: GRADUATED });
    const [first = '', second = ''] = await project.sendAndRate([8, 8, 5].map((n) => ({ customer: 'a', n })));
    await project.void(first);
    await publishVolume(project);
    const isStale = async ({ id }: Tested) => {
      const asked = { action: 'rerate', backtest_id: id, reason: 'test' };
      const { code } = await project.must(409, 'POST', '/usage/corrections', asked);
      expect(code).toBe('backtest_stale');
    };
    const beforeVoid = await tested(project);
    fixture.clock.advanceMs(1_000);
    await project.void(second);
    await isStale(beforeVoid);
    const beforeEvent = await tested(project);
    await project.sendAndRate([{ customer: 'a', n: 1 }]);
    await isStale(beforeEvent);
  });

  it('of a part of a period is not applied, because a correction leaves the other events as they are', async () => {
    const project = await countedProject(fixture, { total: GRADUATED });
    const times = await sendAll(project, USAGE);
    await publishVolume(project);
    const { id } = await tested(project, {}, { to: times.toSorted((a, b) => a - b)[4] });
    expect(await applied(project, id)).toMatchObject({
      status: 'failed',
      failure: { code: 'backtest_stale' },
    });
  });
});
