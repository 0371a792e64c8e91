import type { ChargeItemExtractor, Cumulative } from '@tollgate/contract';
import type { CorrectionsFixture } from './corrections.testing.js';
import { CorrectionsProject, type TestContent } from './project.testing.js';

/** Rules of tests: tokens in USD by a total. */
export interface CountedPrices {
  readonly total: string;
  readonly cumulative?: Partial<Cumulative>;
  readonly extractor?: Partial<ChargeItemExtractor>;
}

/** A project whose tokens are priced by the total of each customer in a month, unless told otherwise. */
export async function countedProject(
  fixture: CorrectionsFixture,
  prices: CountedPrices,
): Promise<CorrectionsProject> {
  const project = await CorrectionsProject.create(fixture);
  const { id } = await project.must(201, 'POST', '/extractor-rule-sets', countedRules(prices));
  await project.must(200, 'POST', `/extractor-rule-sets/${id}/publish`);
  project.ruleSetId = id;
  return project;
}

export function countedRules({ total, cumulative = {}, extractor = {} }: CountedPrices) {
  return {
    name: 'Counted',
    subject: { id_path: 'customer', default_type: 'customer' },
    dimensions: [{ name: 'model', path: 'model', type: 'string' }],
    effective_from: 0,
    charge_item_extractors: [
      {
        metric: 'llm.tokens',
        path: 'n',
        type: 'number',
        cumulative: { counter: 'tokens', period: 'month', per: 'subject', ...cumulative },
        total_expr: total,
        ...extractor,
      },
    ],
  };
}

/** A charge item by a total, as the API shows it. */
export interface CountedItemView {
  readonly amount: string;
  readonly unit_price: string | null;
  readonly currency: string | null;
  readonly pricing_source: string;
  readonly cumulative: {
    readonly counter: string;
    readonly period_start: number;
    readonly before: string;
    readonly after: string;
  } | null;
}

/** Sends events and returns the charge items of each, in order; none for an event that failed. */
export async function countedItems(
  project: CorrectionsProject,
  contents: readonly TestContent[],
  agoS = 100,
): Promise<CountedItemView[]> {
  const items: CountedItemView[] = [];
  for (const id of await project.sendAndRate(contents, agoS))
    items.push(...(await project.event(id)).charge_items);
  return items;
}

/** Returns amount, before and after of each item. */
export function steps(items: readonly CountedItemView[]): (string | undefined)[][] {
  return items.map(({ amount, cumulative }) => [amount, cumulative?.before, cumulative?.after]);
}
