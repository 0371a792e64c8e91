import type { CorrectionFilter } from '@tollgate/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { CorrectionsProject } from './project.testing.js';

let fixture: CorrectionsFixture;
let project: CorrectionsProject;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  project = await CorrectionsProject.create(fixture, { token: '1' });
});

/** Rules of another rule set of the project: a metric without a price. */
const IMAGES = {
  subject: { default_type: 'team', id_path: 'team' },
  effective_from: 1_700_000_000,
  charge_item_extractors: [{ metric: 'images', path: 'images', type: 'number', unit: 'image' }],
};

async function createImages(): Promise<string> {
  const { id } = await project.must(201, 'POST', '/extractor-rule-sets', IMAGES);
  await project.must(200, 'POST', `/extractor-rule-sets/${id}/publish`);
  return id;
}

/** Prices of images, bound to their rule set. */
function pricesOf(images: string, price: string) {
  return {
    ...{ extractor_rule_set_id: images, name: 'Images', currency: 'USD', effective_from: 1_700_000_000 },
    rules: [{ name: 'image', metric: 'images', unit_price_expr: `dec("${price}")` }],
  };
}

let keys = 0;
/** Sends an event and rates it; returns its id. */
async function send(fields: Record<string, unknown>): Promise<string> {
  const event = {
    ...{ extractor_rule_set_id: project.ruleSetId, occurred_at: fixture.nowS - 100 },
    ...{ idempotency_key: `sent-${keys++}`, ...fields },
  };
  const body = { source: 'test', events: [event] };
  const { raw_event_ids } = await project.must(202, 'POST', '/events/batch-ingest', body);
  await fixture.settle();
  return raw_event_ids[0];
}

describe('the filter', () => {
  it('selects by each field', async () => {
    const images = await createImages();
    const small = await send({ raw_json: { customer: 'c1', model: 'small', n: 1 } });
    const plain = await send({ source: 'other', raw_json: { customer: 'c2', calls: 1 } });
    const image = await send({ extractor_rule_set_id: images, raw_json: { team: 'c1', images: 2 } });
    const all = [small, plain, image];
    const selected: readonly (readonly [Partial<CorrectionFilter>, string[]])[] = [
      [{}, all],
      [{ subject_type: 'team' }, [image]],
      [{ subject_id: 'c1' }, [small, image]],
      [{ subject_id: 'c1', subject_type: 'customer' }, [small]],
      [{ source: 'other' }, [plain]],
      [{ metric: 'llm.calls' }, [plain]],
      [{ extractor_rule_set_id: images }, [image]],
      [{ pricing_source: 'unpriced' }, [image]],
      [{ status: 'failed' }, []],
      [{ dimensions: { model: { in: ['small', 'large'] } } }, [small]],
      [{ dimensions: { model: { not_in: ['small'] } } }, [plain, image]],
      [{ dimensions: { model: { exists: false }, subject_type: { in: ['customer'] } } }, [plain]],
    ];
    for (const [fields, ids] of selected) {
      const filter = { ...project.everything, ...fields };
      const { examples, events_matched } = await project.correct({ action: 'void', filter, dry_run: true });
      const found = examples.map(({ raw_event_id }) => raw_event_id).sort();
      expect([fields, events_matched, found]).toEqual([fields, ids.length, [...ids].sort()]);
    }
  });
});

describe('the plan', () => {
  it('shows the 20 events that differ most, with their items and differences, and each total', async () => {
    fixture.partEvents = 3;
    const { accountId } = await project.route('c1');
    const contents = Array.from({ length: 25 }, (_, index) => ({ customer: 'c1', n: index + 1 }));
    await project.sendAndRate([...contents, { customer: 'c1', n: 30, calls: 1, bytes: 2 }]);
    const plan = await project.correct({ action: 'void', dry_run: true });
    const sizes = plan.examples.map(({ amount_deltas }) => amount_deltas.at(-1)?.amount);
    expect(sizes).toEqual(['-30', ...Array.from({ length: 19 }, (_, index) => `${index - 25}`)]);
    expect(plan.examples[0]).toMatchObject({
      amount_deltas: [
        { currency: 'EUR', amount: '-2' },
        { currency: 'USD', amount: '-30' },
      ],
      before: { charge_items: [{}, {}, {}], charge_item_count: 3, failure: null },
      after: { charge_items: [], charge_item_count: 0, failure: null },
    });
    const quantity = (before: string) => ({ before, after: '0', delta: `-${before}` });
    const none = { before: '0', after: '0', delta: '0' };
    expect(plan.totals).toEqual([
      {
        ...{ metric: 'llm.tokens', unit: 'token', currency: 'USD', account_id: accountId },
        ...{ quantity: quantity('355'), amount: quantity('355'), cost: none },
      },
      {
        ...{ metric: 'llm.calls', unit: 'call', currency: 'EUR', account_id: accountId },
        ...{ quantity: quantity('1'), amount: quantity('2'), cost: none },
      },
      {
        ...{ metric: 'net.bytes', unit: 'byte', currency: null, account_id: null },
        ...{ quantity: quantity('2'), amount: none, cost: none },
      },
    ]);
    expect(plan).toMatchObject({ totals_count: 3, progress: { events_done: 0, events_total: 26 } });
  });
});

describe('rules', () => {
  it('that are named rate the events of their rule set, published or not', async () => {
    const images = await createImages();
    await project.route('c1');
    const priced = await send({ raw_json: { customer: 'c1', n: 2 } });
    const other = await send({ extractor_rule_set_id: images, raw_json: { team: 't', images: 2 } });
    const changed = { ...IMAGES, subject: { default_type: 'group', id_path: 'team' } };
    const { version } = await project.must(200, 'PUT', `/extractor-rule-sets/${images}`, changed);
    const extractor = { id: images, version };
    const correction = await project.correct({ action: 'rerate', rules: { extractor } });
    expect(correction).toMatchObject({ events_matched: 1, events_changed: 1, rules: { extractor } });
    expect(correction.filter).toMatchObject({ extractor_rule_set_id: images });
    expect(await project.event(other)).toMatchObject({
      ...{ revision: 2, subject_type: 'group', extractor_version: version },
    });
    expect(await project.event(priced)).toMatchObject({ revision: 1 });
    // The draft is not published: without its name, the events are rated as before.
    expect(await project.correct({ action: 'rerate' })).toMatchObject({ events_changed: 1 });
    expect(await project.event(other)).toMatchObject({ revision: 3, subject_type: 'team' });
  });

  it('that name prices replace the others of their rule set, and an empty list means none', async () => {
    const images = await createImages();
    const id = await send({ extractor_rule_set_id: images, raw_json: { team: 't', images: 2 } });
    const { id: pricing } = await project.must(201, 'POST', '/pricing-rule-sets', pricesOf(images, '3'));
    await project.must(200, 'POST', `/pricing-rule-sets/${pricing}/publish`);
    const { version } = await project.must(
      200,
      'PUT',
      `/pricing-rule-sets/${pricing}`,
      pricesOf(images, '5'),
    );
    const amountBy = async (rules?: { pricing: { id: string; version: number }[] }) => {
      await project.correct({ action: 'rerate', ...(rules === undefined ? {} : { rules }) });
      const { charge_items } = await project.event(id);
      const [{ amount, pricing_source, rule_set_version }] = charge_items;
      return [amount, pricing_source, rule_set_version];
    };
    expect(await amountBy()).toEqual(['6', 'pricing_rule_set', 1]);
    expect(await amountBy({ pricing: [{ id: pricing, version }] })).toEqual([
      '10',
      'pricing_rule_set',
      version,
    ]);
    expect(await amountBy({ pricing: [] })).toEqual(['0', 'unpriced', null]);
  });

  it('that name prices leave events of other rule sets at their prices', async () => {
    const [images, others] = [await createImages(), await createImages()];
    const { id: pricing } = await project.must(201, 'POST', '/pricing-rule-sets', pricesOf(images, '3'));
    const { id: ofOthers } = await project.must(201, 'POST', '/pricing-rule-sets', pricesOf(others, '7'));
    for (const id of [pricing, ofOthers]) await project.must(200, 'POST', `/pricing-rule-sets/${id}/publish`);
    const event = await send({ extractor_rule_set_id: images, raw_json: { team: 't', images: 2 } });
    const other = await send({ extractor_rule_set_id: others, raw_json: { team: 't', images: 2 } });
    const rules = { pricing: [{ id: pricing, version: 1 }] };
    const filter = { ...project.everything, extractor_rule_set_id: others };
    const asked = { action: 'rerate', filter, rules, reason: 'x' };
    const refused = await project.must(400, 'POST', '/usage/corrections', asked);
    expect(refused.details).toMatchObject([{ path: 'rules.pricing[0].id' }]);
    const { version } = await project.must(
      200,
      'PUT',
      `/pricing-rule-sets/${pricing}`,
      pricesOf(images, '5'),
    );
    const named = { pricing: [{ id: pricing, version }] };
    const correction = await project.correct({ action: 'rerate', rules: named });
    expect(correction).toMatchObject({ events_matched: 2, events_changed: 1 });
    expect((await project.event(event)).charge_items).toMatchObject([{ amount: '10' }]);
    expect(await project.event(other)).toMatchObject({ revision: 1, charge_items: [{ amount: '14' }] });
  });
});

describe('a replacement', () => {
  it('is whole: its subject, metadata and x-billing count, and what it leaves out is absent', async () => {
    const { accountId } = await project.route('c9');
    const sent = { subject_type: 'customer', subject_id: 'c1', metadata: { by: 'gateway' } };
    const id = await send({ ...sent, source: 'other', raw_json: { customer: 'c8', n: 1 } });
    const billing = {
      items: [{ metric: 'seats', quantity: '2' }],
      pricing_hints: { seats: { unit_price: '1.5', currency: 'USD' } },
    };
    const path = `/usage/events/${id}/replace`;
    const replace = async (content: object) => {
      const { correction_id } = await project.must(202, 'POST', path, { ...content, reason: 'x' });
      expect(await project.ended(correction_id)).toMatchObject({ status: 'applied', events_changed: 1 });
      return project.event(id);
    };
    const first = await replace({
      ...{ raw_json: { n: 4 }, subject_type: 'customer', subject_id: 'c9' },
      ...{ metadata: { by: 'hand' }, 'x-billing': billing },
    });
    expect(first).toMatchObject({
      ...{ source: 'other', subject_id: 'c9' },
      ...{
        subject_is_sent: true,
        raw_json: { n: 4 },
        metadata: { by: 'hand' },
        'x-billing': billing,
      },
    });
    expect(first.charge_items.map(({ metric }: { metric: string }) => metric).sort()).toEqual([
      'llm.tokens',
      'seats',
    ]);
    expect(await project.balance(accountId)).toBe('-7');
    const second = await replace({ raw_json: { customer: 'c9', n: 4 } });
    expect(second).toMatchObject({
      ...{ subject_id: 'c9', subject_is_sent: false, metadata: null, 'x-billing': null },
      revisions: [
        { revision: 1, raw_json: { customer: 'c8', n: 1 } },
        { raw_json: { n: 4 } },
        { raw_json: { customer: 'c9', n: 4 } },
      ],
    });
    expect(await project.balance(accountId)).toBe('-4');
  });

  it('is refused as ingest would refuse it', async () => {
    const id = await send({ raw_json: { customer: 'c1', n: 1 } });
    for (const content of [
      {},
      { raw_json: {}, subject_id: 'c1' },
      { raw_json: {}, occurred_at: 1 },
      { raw_json: {}, 'x-billing': { price: 1 } },
    ]) {
      const { status, text } = await project.call('POST', `/usage/events/${id}/replace`, {
        ...{ ...content, reason: 'x' },
      });
      expect([text, status]).toEqual([text, 400]);
    }
  });
});
