import { afterAll, beforeAll, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { type CountedItemView, countedProject, countedRules } from './counted.testing.js';

const HOUR_S = 3_600;
/** Each part is a transaction of its own, and a machine may be busy. */
const TIMEOUT_MS = 600_000;

let fixture: CorrectionsFixture;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());

/** An event, as it is put in. */
interface PutInEvent {
  readonly id: string;
  readonly atS: number;
  readonly item: CountedItemView | undefined;
}

it.each([
  ['parts of one event', 1, 1],
  ['parts of two events, two in a step', 2, 2],
  ['one part', 100, 1],
])(
  'a correction puts items in by time and id, whatever the batches: %s',
  async (_, partEvents, partsPerStep) => {
    Object.assign(fixture, { partEvents, partsPerStep });
    const project = await countedProject(fixture, { total: 'total.quantity' });
    // The latest usage comes first, and each time has several events, which come in two batches.
    const hoursAgo = [1, 2, 3];
    const sent: { id: string; atS: number }[] = [];
    for (const [batch, ago] of [...hoursAgo, ...hoursAgo].entries()) {
      const atS = fixture.nowS - ago * HOUR_S;
      const contents = [2, 3].map((n) => ({ customer: batch % 2 === 0 ? 'a' : 'b', n: n + batch }));
      for (const id of await project.sendAndRate(contents, ago * HOUR_S)) sent.push({ id, atS });
    }
    const path = `/extractor-rule-sets/${project.ruleSetId}`;
    // No two items with other totals cost the same.
    await project.must(200, 'PUT', path, countedRules({ total: 'total.quantity * total.quantity' }));
    await project.must(200, 'POST', `${path}/publish`);
    const correction = await project.correct({ action: 'rerate' });
    expect(correction).toMatchObject({ status: 'applied', events_changed: sent.length });
    const [parts] = await fixture.rows<{ count: number }>(
      'select count(*)::int as count from usage_correction_parts where correction_id = $1',
      [correction.id],
    );
    expect(parts?.count).toBe(Math.ceil(sent.length / partEvents));

    const inOrder = sent.toSorted((x, y) => x.atS - y.atS || (x.id < y.id ? -1 : 1));
    const events = await Promise.all(
      inOrder.map(async ({ id, atS }): Promise<PutInEvent & { customer: string; n: number }> => {
        const { charge_items: items, raw_json } = await project.event(id);
        return { id, atS, item: items[0], customer: raw_json.customer, n: raw_json.n };
      }),
    );
    for (const customer of ['a', 'b']) {
      let total = 0;
      const expected = events
        .filter((event) => event.customer === customer)
        .map(({ n }) => {
          const before = total;
          total += n;
          return [`${total * total - before * before}`, `${before}`, `${total}`];
        });
      const found = events
        .filter((event) => event.customer === customer)
        .map(({ item }) => [item?.amount, item?.cumulative?.before, item?.cumulative?.after]);
      expect(found).toEqual(expected);
    }
  },
  TIMEOUT_MS,
);
