import type { ChargeItemExtractor } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { TEST_SCOPE } from '../../testing/history.js';
import { compileExtractor, NO_PRICES } from '../rules/index.js';
import { type ReplayBounds, replay } from './replay.js';

const EVENTS = 10;
const selection = { extractorRuleSetId: 'ers_1', from: 0, to: 100, share: 1 };

/** Stored events without charge items, `n` tokens each. */
const stored = Array.from({ length: EVENTS }, (_, n) => ({
  id: n.toString(16).padStart(32, '0'),
  status: 'processed',
  is_current: true,
  occurred_at_s: n,
  raw_json: `{"n": ${n}}`,
  x_billing: '',
  notes: '',
  subject_is_sent: false,
  item_metric: [],
}));

/** A history that returns pages of `stored`. */
function history(onQuery = () => {}): Pick<ClickHouse, 'query'> {
  return {
    query: async <Row>(_sql: string, params: object = {}) => {
      onQuery();
      const { after, limit } = params as { after?: string; limit: number };
      const from = after === undefined ? 0 : stored.findIndex(({ id }) => id > after);
      return (from < 0 ? [] : stored.slice(from, from + limit)) as Row[];
    },
  };
}

const events = history();

function replayed(
  bounds: Partial<ReplayBounds>,
  {
    clock = new ManualClock(0),
    signal = new AbortController().signal,
    onProgress = async (_done: number) => {},
    clickhouse = history(),
    price = {} as Partial<ChargeItemExtractor>,
  } = {},
) {
  const compiled = compileExtractor({
    charge_item_extractors: [{ metric: 'm', path: 'n', type: 'number', ...price }],
  });
  if (!compiled.ok) throw new Error('the extractor compiles');
  const rules = { extractor: compiled.extractor, prices: NO_PRICES };
  const findPeriods = async () => [];
  return replay(
    { clickhouse, clock, bounds, findPeriods },
    { scope: TEST_SCOPE, selection, rules },
    signal,
    onProgress,
  );
}

const quantityOf = (result: Awaited<ReturnType<typeof replay>>) => result.totals[0]?.after.quantity;

describe('a replay', () => {
  it.each([1, 3, 10, 11])('rates every event once, in pages of %i', async (pageEventsMax) => {
    const result = await replayed({ pageEventsMax });
    expect([result.event_count, quantityOf(result), result.cut_by]).toEqual([EVENTS, '45', []]);
  });

  it('ends at its number of events, and says so where more follow', async () => {
    const cut = await replayed({ eventsMax: 4, pageEventsMax: 3 });
    expect([cut.event_count, quantityOf(cut), cut.cut_by]).toEqual([4, '6', ['events']]);
    const whole = await replayed({ eventsMax: EVENTS, pageEventsMax: 3 });
    expect([whole.event_count, whole.cut_by]).toEqual([EVENTS, []]);
  });

  it('counts amounts left on voided events as charged, up to the last event that it has rated', async () => {
    const names = { metric: 'm', unit: '', currency: 'USD', quantity: '0' };
    const clickhouse: typeof events = {
      query: async <Row>(sql: string, params: Record<string, unknown> = {}) => {
        if (!sql.includes("status = 'voided'")) return events.query<Row>(sql, params);
        const { last } = params as { last?: string };
        return [{ ...names, amount: last === undefined ? '7' : `${Number.parseInt(last, 16)}` }] as Row[];
      },
    };
    const leftOf = async (bounds: Partial<ReplayBounds>) =>
      (await replayed(bounds, { clickhouse })).totals.find(({ currency }) => currency === 'USD')?.before
        .amount;
    expect(await leftOf({})).toBe('7');
    expect(await leftOf({ eventsMax: 4 })).toBe('3');
    expect(await leftOf({ secondsMax: 0 })).toBeUndefined();
  });

  it('fails events with a price by a total if it cannot read whole periods', async () => {
    const cumulative = { counter: 'm', period: 'month', per: 'subject' } as const;
    const price = { cumulative, total_expr: 'total.quantity' };
    const result = await replayed({ eventsMax: 4 }, { price });
    expect(result.newly_failed).toMatchObject([{ code: 'price_by_total', count: 4 }]);
    expect(result.cut_by).toEqual(['events']);
  });

  it('ends when its time is up, and says so', async () => {
    const clock = new ManualClock(0);
    const onProgress = async () => clock.advanceMs(1_000);
    const result = await replayed({ secondsMax: 1, pageEventsMax: 2 }, { clock, onProgress });
    expect(result.event_count).toBeLessThan(EVENTS);
    expect(result.cut_by).toEqual(['time']);
  });

  it('reports its progress after every page at the latest', async () => {
    const done: number[] = [];
    await replayed({ pageEventsMax: 2 }, { onProgress: async (events) => void done.push(events) });
    expect(done).toEqual(expect.arrayContaining([2, 4, 6, 8, EVENTS]));
  });

  it('ends with the reason of its signal, before the next page', async () => {
    const abort = new AbortController();
    let queries = 0;
    const clickhouse = history(() => {
      queries += 1;
    });
    const onProgress = async () => abort.abort(new Error('enough'));
    const ended = replayed({ pageEventsMax: 2 }, { signal: abort.signal, onProgress, clickhouse });
    await expect(ended).rejects.toThrow('enough');
    expect(queries).toBe(1);
  });
});
