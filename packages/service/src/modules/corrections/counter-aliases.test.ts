import { afterAll, beforeAll, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { type CountedItemView, countedRules, steps } from './counted.testing.js';
import { CorrectionsProject } from './project.testing.js';

let fixture: CorrectionsFixture;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());

/** A project whose tokens are priced by the total of each model, by a rule that matches models by their aliases. */
async function aliasedProject(): Promise<CorrectionsProject> {
  const project = await CorrectionsProject.create(fixture);
  const { charge_item_extractors: _items, ...rules } = countedRules({ total: '' });
  const items = [{ metric: 'llm.tokens', path: 'n', type: 'number' }];
  const { id } = await project.must(201, 'POST', '/extractor-rule-sets', {
    ...rules,
    charge_item_extractors: items,
  });
  await project.must(200, 'POST', `/extractor-rule-sets/${id}/publish`);
  project.ruleSetId = id;
  const { id: pricing } = await project.must(201, 'POST', '/pricing-rule-sets', {
    extractor_rule_set_id: id,
    effective_from: 0,
    aliases: [{ dimension: 'model', pattern: 'm-*', value: 'm' }],
    rules: [
      {
        name: 'of m',
        metric: 'llm.tokens',
        match_expr: 'dimensions.model == "m"',
        cumulative: { counter: 'tokens', period: 'month', per: 'subject', by: ['model'] },
        total_expr: 'total.quantity * (dimensions.model == "m" ? dec("1") : dec("3"))',
      },
    ],
  });
  await project.must(200, 'POST', `/pricing-rule-sets/${pricing}/publish`);
  return project;
}

it('aliases choose the rule; counter, price and explanation have the values of the event', async () => {
  const project = await aliasedProject();
  const ids = await project.sendAndRate([
    { customer: 'a', n: 2, model: 'm' },
    { customer: 'a', n: 2, model: 'm-2026' },
    { customer: 'a', n: 5, model: 'm-2026' },
  ]);
  const events = await Promise.all(ids.map((id) => project.event(id)));
  const items: CountedItemView[] = events.flatMap(({ charge_items }) => charge_items);
  expect(steps(items)).toEqual([
    ['2', '0', '2'],
    ['6', '0', '2'],
    ['15', '2', '7'],
  ]);
  const totals = events.flatMap(({ explanation }) =>
    explanation.charge_items.map(({ total }: { total: object }) => total),
  );
  expect(totals).toMatchObject([
    { price_before: '0', price_after: '2' },
    { price_before: '0', price_after: '6' },
    { price_before: '6', price_after: '21' },
  ]);
});
