import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { countedItems, countedProject, countedRules, steps } from './counted.testing.js';
import { STORED_COUNTERS } from './counted-rows.testing.js';
import type { CorrectionsProject } from './project.testing.js';

const GRADUATED = 'tier_graduated(total.quantity, [[10, "2"], [null, "1"]])';
const DAY_S = 86_400;

let fixture: CorrectionsFixture;

async function sendOne(project: CorrectionsProject, event: object): Promise<string> {
  const body = { source: 'test', events: [event] };
  const { raw_event_ids: ids } = await project.must(202, 'POST', '/events/batch-ingest', body);
  return ids[0];
}

beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());

describe('a charge item', () => {
  it('costs what it adds to the price of the total, over batches', async () => {
    const project = await countedProject(fixture, { total: GRADUATED });
    const first = await countedItems(project, [
      { customer: 'a', n: 4 },
      { customer: 'b', n: 12 },
      { customer: 'a', n: 8 },
    ]);
    const second = await countedItems(project, [{ customer: 'a', n: 1 }]);
    expect(steps([...first, ...second])).toEqual([
      ['8', '0', '4'],
      ['22', '0', '12'],
      ['14', '4', '12'],
      ['1', '12', '13'],
    ]);
    expect(first[0]).toMatchObject({ unit_price: null, currency: 'USD', pricing_source: 'extractor' });
    const month = new Date(fixture.clock.nowMs());
    expect(first[0]?.cumulative).toMatchObject({
      counter: 'tokens',
      period_start: Date.UTC(month.getUTCFullYear(), month.getUTCMonth()) / 1_000,
    });
    expect(await fixture.verify()).toMatchObject({ status: 'equal' });
  });

  it('opens the period with a quantity of 0, and pays a minimum once', async () => {
    const project = await countedProject(fixture, { total: 'dec_max(total.quantity * dec("2"), dec("10"))' });
    const items = await countedItems(project, [
      { customer: 'a', n: 0 },
      { customer: 'a', n: 3 },
      { customer: 'a', n: 4 },
    ]);
    expect(steps(items)).toEqual([
      ['10', '0', '0'],
      ['0', '0', '3'],
      ['4', '3', '7'],
    ]);
  });

  it('has a negative amount where the price of the total falls', async () => {
    const project = await countedProject(fixture, {
      total: 'tier_volume(total.quantity, [[10, "2"], [null, "1"]])',
    });
    const items = await countedItems(project, [
      { customer: 'a', n: 9 },
      { customer: 'a', n: 2 },
    ]);
    expect(steps(items)).toEqual([
      ['18', '0', '9'],
      ['-7', '9', '11'],
    ]);
  });

  it('is rounded like its total, each price once', async () => {
    const project = await countedProject(fixture, { total: 'dec_div(total.quantity, dec("3"), 18)' });
    const items = await countedItems(
      project,
      Array.from({ length: 3 }, () => ({ customer: 'a', n: 1 })),
    );
    expect(items.map(({ amount }) => amount)).toEqual([
      '0.333333333333333333',
      '0.333333333333333334',
      '0.333333333333333333',
    ]);
  });

  it('moves no counter if its event fails', async () => {
    const project = await countedProject(fixture, {
      total: 'tier_graduated(total.quantity, [[10, "1"]])',
    });
    const ids = await project.sendAndRate([
      { customer: 'a', n: 6 },
      { customer: 'a', n: 5 },
      { customer: 'a', n: 4 },
    ]);
    const events = await Promise.all(ids.map((id) => project.event(id)));
    expect(events.map(({ failure }) => failure?.code)).toEqual([undefined, 'pricing_failed', undefined]);
    expect(events[1].failure.path).toBe('charge_item_extractors[0].total_expr');
    expect(events[2].charge_items[0].cumulative).toMatchObject({ before: '6', after: '10' });
  });

  it('with a price of its own does not enter the counter', async () => {
    const project = await countedProject(fixture, { total: GRADUATED });
    const event = {
      extractor_rule_set_id: project.ruleSetId,
      occurred_at: fixture.nowS,
      idempotency_key: 'hinted',
      raw_json: { customer: 'a', n: 5 },
      'x-billing': { pricing_hints: { 'llm.tokens': { unit_price: '7' } } },
    };
    const id = await sendOne(project, event);
    await fixture.settle();
    expect((await project.event(id)).charge_items).toMatchObject([
      { amount: '35', pricing_source: 'hint', cumulative: null },
    ]);
    expect(steps(await countedItems(project, [{ customer: 'a', n: 1 }]))).toEqual([['2', '0', '1']]);
  });

  it('has its discount after the price of the total', async () => {
    const project = await countedProject(fixture, { total: GRADUATED });
    const send = async (key: string) => {
      const event = {
        extractor_rule_set_id: project.ruleSetId,
        occurred_at: fixture.nowS,
        idempotency_key: key,
        raw_json: { customer: 'a', n: 8 },
        'x-billing': { discount_hints: { 'llm.tokens': { percent: '50' } } },
      };
      const id = await sendOne(project, event);
      await fixture.settle();
      return (await project.event(id)).charge_items[0];
    };
    expect(await send('first')).toMatchObject({ amount: '8', discount: '8' });
    expect(await send('second')).toMatchObject({ amount: '5', discount: '5', cumulative: { after: '16' } });
    expect(
      await fixture.rows(`select amount from ${STORED_COUNTERS} where project_id = $1`, [project.projectId]),
    ).toEqual([{ amount: '26.000000000000000000' }]);
  });
});

describe('a counter', () => {
  it('counts each combination of values by itself, an absent one too', async () => {
    const project = await countedProject(fixture, {
      total:
        'has(dimensions.model) && dimensions.model == "big" ? total.quantity * dec("9") : total.quantity',
      cumulative: { by: ['model'] },
    });
    const items = await countedItems(project, [
      { customer: 'a', n: 1, model: 'big' },
      { customer: 'a', n: 2 },
      { customer: 'a', n: 4, model: 'big' },
      { customer: 'a', n: 8 },
      { customer: 'b', n: 16, model: 'big' },
    ]);
    expect(steps(items)).toEqual([
      ['9', '0', '1'],
      ['2', '0', '2'],
      ['36', '1', '5'],
      ['8', '2', '10'],
      ['144', '0', '16'],
    ]);
  });

  it.each<['count' | 'max' | 'unique', string[][]]>([
    [
      'count',
      [
        ['1', '0', '1'],
        ['1', '1', '2'],
        ['1', '2', '3'],
        ['1', '3', '4'],
      ],
    ],
    [
      'max',
      [
        ['3', '0', '3'],
        ['0', '3', '3'],
        ['2', '3', '5'],
        ['0', '5', '5'],
      ],
    ],
    [
      'unique',
      [
        ['1', '0', '1'],
        ['1', '1', '2'],
        ['0', '2', '2'],
        ['0', '2', '2'],
      ],
    ],
  ])('is the %s of charge items', async (aggregate, expected) => {
    const project = await countedProject(fixture, {
      total: 'total.quantity',
      cumulative: { aggregate, per: 'project', ...(aggregate === 'unique' ? { of: 'model' } : {}) },
    });
    const first = await countedItems(project, [
      { customer: 'a', n: 3, model: 'x' },
      { customer: 'b', n: 1, model: 'y' },
    ]);
    const second = await countedItems(project, [
      { customer: 'a', n: 5, model: 'x' },
      { customer: 'a', n: 2 },
    ]);
    expect(steps([...first, ...second])).toEqual(expected);
  });

  it('of an account counts the subjects of its routes, and prices no event without one', async () => {
    const project = await countedProject(fixture, { total: GRADUATED, cumulative: { per: 'account' } });
    const { accountId } = await project.route('a');
    await project.must(201, 'POST', '/subject-routes', {
      subject_type: 'customer',
      subject_id: 'b',
      account_id: accountId,
    });
    const items = await countedItems(project, [
      { customer: 'a', n: 6 },
      { customer: 'b', n: 6 },
      { customer: 'c', n: 6 },
    ]);
    expect(steps(items)).toEqual([
      ['12', '0', '6'],
      ['10', '6', '12'],
      ['0', undefined, undefined],
    ]);
    expect(items[2]).toMatchObject({ pricing_source: 'unpriced', currency: null });
    expect(await project.balance(accountId)).toBe('-22');
  });

  it('starts again with each period, and takes late events into theirs', async () => {
    const project = await countedProject(fixture, { total: GRADUATED, cumulative: { period: 'day' } });
    const today = await countedItems(project, [{ customer: 'a', n: 12 }]);
    const late = await countedItems(project, [{ customer: 'a', n: 3 }], DAY_S);
    const more = await countedItems(project, [{ customer: 'a', n: 8 }], DAY_S);
    expect(steps([...today, ...late, ...more])).toEqual([
      ['22', '0', '12'],
      ['6', '0', '3'],
      ['15', '3', '11'],
    ]);
  });

  it('goes on with its total under a new version, whose price applies from then on', async () => {
    const project = await countedProject(fixture, { total: 'total.quantity' });
    const before = await countedItems(project, [{ customer: 'a', n: 5 }]);
    await project.must(200, 'PUT', `/extractor-rule-sets/${project.ruleSetId}`, {
      ...countedRules({ total: 'total.quantity * dec("3")' }),
    });
    await project.must(200, 'POST', `/extractor-rule-sets/${project.ruleSetId}/publish`);
    const after = await countedItems(project, [{ customer: 'a', n: 2 }]);
    expect(steps([...before, ...after])).toEqual([
      ['5', '0', '5'],
      ['6', '5', '7'],
    ]);
  });

  it('keeps its definition', async () => {
    const project = await countedProject(fixture, { total: 'total.quantity' });
    const path = `/extractor-rule-sets/${project.ruleSetId}`;
    const changes = [
      { period: 'day' },
      { per: 'project' },
      { by: ['model'] },
      { aggregate: 'count' },
      { aggregate: 'unique', of: 'model' },
    ] as const;
    for (const cumulative of changes) {
      const rules = countedRules({
        total: 'total.quantity',
        cumulative: { ...cumulative, by: [...('by' in cumulative ? cumulative.by : [])] },
      });
      const answer = await project.call('PUT', path, rules);
      expect(answer.json()).toMatchObject({
        code: 'counter_changed',
        details: [{ path: 'charge_item_extractors[0].cumulative' }],
      });
    }
    await project.must(
      200,
      'PUT',
      path,
      countedRules({ total: 'dec("1")', cumulative: { counter: 'other', period: 'day' } }),
    );
  });
});
