import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import { newId } from '../../kernel/id.js';
import {
  correctedRows,
  failedRow,
  idOf,
  insertCorrections,
  insertUsageRows,
  usageItem,
  usageRow,
  voidedRows,
} from '../../testing/index.js';
import { ProjectHistory, provisionStorage, storageTables } from '../storage/index.js';
import type { EventFilter } from './event-filter.js';
import { listEvents } from './event-list.js';
import { eventDetail, type UsageScope } from './event-store.js';
import { type EventsFixture, openEventsFixture, textOf } from './events.testing.js';
import { EXPORT_TEXTS } from './export-format.js';
import { eventPages } from './export-pages.js';
import { countInputs, inputBytes, type ReplaySelection, readInputs } from './replay-store.js';
import type { UsageEventRow } from './row.js';

/** Long before the events of the fixture. */
const AT_S = 1_700_000_000;
const RANGE = `from=${AT_S}&to=${AT_S + 100}`;
const POSTED_MS = AT_S * 1_000 + 5;
const CORRECTED_MS = POSTED_MS + 60_000;
const FORMER_TRANSACTION = newId('led', new ManualClock(POSTED_MS));
const CORRECTION_TRANSACTION = newId('led', new ManualClock(CORRECTED_MS));
const NOTES = JSON.stringify([{ code: 'quantity_clamped', metric: 'a', path: 'p', message: 'm' }]);

let fixture: EventsFixture;
let replaced: UsageEventRow;
let voided: UsageEventRow;
let mended: UsageEventRow;
let voidedFailure: UsageEventRow;

beforeAll(async () => {
  fixture = await openEventsFixture();
  const { tenantId, projectId } = fixture.api;
  const of = { tenantId, projectId };
  replaced = usageRow({
    ...{ ...of, occurredAt: AT_S + 1, processedAtMs: POSTED_MS },
    ...{ subjectType: 'user', subjectId: 'former', extractorRuleSetId: 'ers_former' },
    ...{ posting: 'posted', notes: NOTES, itemTransactionIds: [FORMER_TRANSACTION] },
    dimensions: new Map([['model', 'former']]),
    rawJson: '{"is":"former"}',
    items: [usageItem({ metric: 'former.metric', currency: '', amount: 0n, pricingSource: 'unpriced' })],
  });
  const replacement = correctedRows(replaced, {
    ...{ subjectId: 'present', extractorRuleSetId: 'ers_present', notes: '', processedAtMs: CORRECTED_MS },
    dimensions: new Map([['model', 'present']]),
    rawJson: '{"is":"present"}',
    metadata: '{"note":1}',
    items: [usageItem({ metric: 'present.metric', currency: 'EUR' })],
    itemTransactionIds: [CORRECTION_TRANSACTION],
  });
  voided = usageRow({ ...of, occurredAt: AT_S + 2, extractorRuleSetId: 'ers_voided' });
  mended = usageRow({ ...of, occurredAt: AT_S + 3, attempt: 2, extractorRuleSetId: 'ers_mended' });
  const failed = failedRow({ ...of, occurredAt: AT_S + 3, id: idOf(mended), attempt: 1 });
  voidedFailure = failedRow({ ...of, occurredAt: AT_S + 4, extractorRuleSetId: 'ers_former' });
  await provisionStorage(fixture.store.clickhouse, 7);
  for (const storage of ['shared', 'dedicated'] as const) {
    const { events } = storageTables({ storage, projectNo: 7 });
    await insertUsageRows(
      fixture.store.clickhouse,
      [replaced, voided, failed, mended, voidedFailure],
      events,
    );
    const corrections = [replacement, voidedRows(voided), correctedRows(mended), voidedRows(voidedFailure)];
    await insertCorrections(fixture.store.clickhouse, corrections, events);
  }
});
afterAll(() => fixture.close());

function scopeOf(storage: UsageScope['storage']): UsageScope {
  const { tenantId, projectId } = fixture.api;
  return { tenantId, projectId, projectNo: 7, storage, retainedFrom: 0, excludedDimensions: [] };
}

interface ListedEvent {
  readonly raw_event_id: string;
  readonly revision: number;
  readonly status: string;
}

async function list(query = '') {
  const { api, url } = fixture;
  const answer = await api.call('GET', `${url}?${RANGE}${query}`);
  expect(answer.status).toBe(200);
  return answer.json() as { events: ListedEvent[]; unpriced?: unknown };
}

const idsOf = async (query: string) => (await list(query)).events.map((event) => event.raw_event_id);

describe('corrected events', () => {
  it('are listed once, with their last revision', async () => {
    const { events } = await list();
    expect(events.map((event) => [event.raw_event_id, event.revision, event.status])).toEqual([
      [textOf(voidedFailure), 2, 'voided'],
      [textOf(mended), 2, 'processed'],
      [textOf(voided), 2, 'voided'],
      [textOf(replaced), 2, 'processed'],
    ]);
    expect(events[3]).toMatchObject({
      subject_id: 'present',
      dimensions: { model: 'present' },
      charge_items: [
        { metric: 'present.metric', currency: 'EUR', ledger_transaction_id: CORRECTION_TRANSACTION },
      ],
    });
    expect(events[2]).toMatchObject({ charge_items: [], failure: null, posting: null });
  });

  const model = (name: string) => encodeURIComponent(JSON.stringify({ model: { in: [name] } }));
  const source = (name: string) => encodeURIComponent(JSON.stringify({ '@pricing_source': { in: [name] } }));
  it.each([
    ['a subject', '&subject_id=present', '&subject_id=former'],
    ['a rule set', '&extractor_rule_set_id=ers_present', '&extractor_rule_set_id=ers_former'],
    ['a metric', '&metric=present.metric', '&metric=former.metric'],
    ['a currency', '&currency=EUR', '&pricing_source=unpriced'],
    ['a dimension', `&filters=${model('present')}`, `&filters=${model('former')}&metric=former.metric`],
    ['a reserved name', `&filters=${source('extractor')}`, `&filters=${source('unpriced')}`],
    ['a note', '&subject_type=user', '&note=any'],
    ['one note', '&subject_type=user', '&note=quantity_clamped'],
  ])('are found by %s of the last revision alone', async (_, present, former) => {
    expect(await idsOf(present)).toContain(textOf(replaced));
    expect(await idsOf(former)).not.toContain(textOf(replaced));
  });

  it('are found by status, also those that were voided', async () => {
    expect(await idsOf('&status=voided')).toEqual([voidedFailure, voided].map(textOf));
    expect(await idsOf('&status=processed')).toEqual([mended, replaced].map(textOf));
    expect(await idsOf('&status=failed')).toEqual([]);
    expect(await idsOf('&failure_code=dimension_missing')).toEqual([]);
  });

  it('are found by each ledger transaction of their revisions', async () => {
    for (const transaction of [FORMER_TRANSACTION, CORRECTION_TRANSACTION]) {
      const { events, unpriced } = await list(`&ledger_transaction_id=${transaction}&count=unpriced`);
      expect(events).toMatchObject([{ raw_event_id: textOf(replaced), revision: 2 }]);
      expect(unpriced).toMatchObject({ event_count: 0, item_count: 0 });
    }
  });

  it('have no unpriced usage of former revisions', async () => {
    const none = { event_count: 0, item_count: 0, metrics: [] };
    for (const query of ['', '&note=any', '&subject_id=former', '&extractor_rule_set_id=ers_former'])
      expect((await list(`${query}&count=unpriced`)).unpriced).toEqual(none);
  });

  it('show what was sent for the last revision', async () => {
    const { api, url } = fixture;
    const detail = (await api.call('GET', `${url}/${textOf(replaced)}`)).json();
    expect(detail).toMatchObject({
      ...{ revision: 2, status: 'processed', raw_json: { is: 'present' }, metadata: { note: 1 } },
      explanation: { charge_items: [{ metric: 'present.metric' }] },
      unpriced: [],
    });
    expect((await api.call('GET', `${url}/${textOf(voided)}`)).json()).toMatchObject({
      ...{ revision: 2, status: 'voided', charge_items: [], raw_json: {} },
    });
  });

  it.each(['ndjson', 'csv'] as const)('are exported once as %s', async (format) => {
    const { head, linesOf } = EXPORT_TEXTS[format];
    const scope = scopeOf('shared');
    const linesWith = async (filter: Partial<EventFilter>) => {
      const lines: string[] = [];
      const asked = { from: AT_S, to: AT_S + 100, conditions: [], ...filter };
      for await (const page of eventPages(fixture.store.clickhouse, scope, asked))
        for (const event of page) lines.push(...linesOf(event));
      return lines;
    };
    const lines = await linesWith({});
    expect(lines).toHaveLength(4);
    expect(lines.join('')).not.toContain('former.metric');
    expect(lines.filter((line) => line.includes('voided,') || line.includes('"voided"'))).toHaveLength(2);
    if (format === 'csv') for (const line of lines) expect(line.trimEnd()).toMatch(/,2,{6}$/);
    else for (const line of lines) expect(JSON.parse(line)).toMatchObject({ revision: 2 });
    if (format === 'csv') expect(head.trimEnd()).toMatch(/,revision,item\.cumulative,item\.cost\./);
    expect(await linesWith({ status: 'failed' })).toEqual([]);
    expect(await linesWith({ status: 'voided' })).toHaveLength(2);
  });

  it('are the same in dedicated tables', async () => {
    const { store } = fixture;
    const scopes = (['shared', 'dedicated'] as const).map(scopeOf);
    const [shared, dedicated] = await Promise.all(
      scopes.map(async (scope) => {
        const filter = { from: AT_S, to: AT_S + 100, conditions: [] };
        const pages: unknown[] = [];
        for await (const page of eventPages(store.clickhouse, scope, filter)) pages.push(page);
        const history = new ProjectHistory(store.clickhouse, scope);
        const details = [replaced, voided].map((row) => eventDetail(history, idOf(row)));
        const listed = await listEvents(store.clickhouse, scope, { ...filter, limit: 10, count: 'unpriced' });
        return { pages, details: await Promise.all(details), events: listed.events };
      }),
    );
    expect(dedicated).toEqual(shared);
    expect(shared?.events).toHaveLength(4);
  });
});

describe('a replay of corrected events', () => {
  const signal = new AbortController().signal;
  const selection = (extractorRuleSetId: string): ReplaySelection => ({
    ...{ extractorRuleSetId, from: AT_S, to: AT_S + 100, share: 1 },
  });
  const historyOf = () => new ProjectHistory(fixture.store.clickhouse, scopeOf('shared'));

  it.each([
    ['ers_present', '{"is":"present"}'],
    ['ers_mended', '{}'],
    // Its present revision is by another rule set.
    ['ers_former', undefined],
    ['ers_voided', undefined],
  ])('rates the last revisions that %s has read, and no voided event', async (ruleSet, rawJson) => {
    for (const eventsMax of [1, 1_000]) {
      const bounds = { eventsMax, bytesMax: 1_000_000 };
      const inputs = await readInputs(historyOf(), selection(ruleSet), undefined, bounds, signal);
      expect(inputs.map((input) => input.raw_json)).toEqual(rawJson === undefined ? [] : [rawJson]);
    }
    expect(await countInputs(historyOf(), selection(ruleSet), 1_000)).toBe(rawJson === undefined ? 0 : 1);
    expect(await inputBytes(historyOf(), selection(ruleSet))).toBeGreaterThan(0);
  });
});
