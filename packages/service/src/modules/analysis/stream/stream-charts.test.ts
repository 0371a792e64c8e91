import type { AnalysisQuery, ChartQuery } from '@tollgate/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StreamFixture } from './stream.testing.js';

const DAY_S = 86_400;
const CHART: ChartQuery = { metrics: ['llm.tokens'], bucket_size: 'auto', group_by: ['bucket', 'model'] };

let fixture: StreamFixture;
beforeEach(async () => {
  fixture = await StreamFixture.open();
  fixture.charts.set('chr_day', { query: { ...CHART, timezone: 'Asia/Tokyo' }, defaultRangeS: DAY_S });
  fixture.charts.set('chr_week', { query: CHART, defaultRangeS: 7 * DAY_S });
});
afterEach(() => fixture.close());

const over = (lastSeconds: number, query = CHART): AnalysisQuery => ({
  ...query,
  time_range: { last_seconds: lastSeconds },
});

describe('a stream of charts', () => {
  it('follows what they ask, over the range that the board of each opens with, after the queries', async () => {
    const client = await fixture.follow({ queries: [over(60)], charts: ['chr_week', 'chr_day'] });
    expect((await client.next()).name).toBe('ready');
    await fixture.use(fixture.nowS);
    await fixture.tick();
    const asked = [over(60), over(7 * DAY_S), over(DAY_S, { ...CHART, timezone: 'Asia/Tokyo' })];
    for (const [index, query] of asked.entries()) {
      const { data } = await client.next();
      const { rows, from, to, bucket_size } = await fixture.ask(query);
      expect(rows).toHaveLength(1);
      expect(data).toMatchObject({ query: index, rows, from, to, bucket_size });
    }
  });

  it('follows them over another range where the URL says so', async () => {
    const client = await fixture.follow({ charts: ['chr_week', 'chr_day'], lastSeconds: 3_600 });
    expect((await client.next()).name).toBe('ready');
    await fixture.use(fixture.nowS);
    await fixture.tick();
    for (const query of [0, 1]) {
      const { data } = await client.next();
      expect(data).toMatchObject({ query, bucket_size: '1m', from: fixture.nowS + 1 - 3_600 });
    }
  });

  it('is not found where one of them is none of the project', async () => {
    const refused = await fixture.follow({ charts: ['chr_day', 'chr_nobodys'] });
    await refused.ended();
    expect([refused.status, JSON.parse(refused.body).code]).toEqual([404, 'not_found']);
  });

  it.each([
    ['query', { queries: [over(60)], charts: Array.from({ length: 16 }, () => 'chr_day') }],
    ['chart_id[0]', { charts: ["chr_day'"] }],
    ['last_seconds', { charts: ['chr_day'], lastSeconds: 0 }],
    ['last_seconds', { queries: [over(60)], lastSeconds: 60 }],
  ])('is refused for a wrong %s', async (path, followed) => {
    const refused = await fixture.follow(followed);
    await refused.ended();
    expect([refused.status, JSON.parse(refused.body).details[0].path]).toEqual([400, path]);
  });
});
