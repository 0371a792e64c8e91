import type { AnalysisQuery } from '@tollgate/contract';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import { TEST_SCOPE } from '../../testing/history.js';
import {
  correctedRows,
  createTestClickHouse,
  insertCorrections,
  insertUsageRows,
  stored,
  type TestClickHouse,
  usageItem,
  usageRow,
} from '../../testing/index.js';
import { analyze } from './service.js';

const CLOCK = new ManualClock(1_800_000_000_000);
const AT_S = 1_750_000_000;

let house: TestClickHouse;
beforeAll(async () => {
  house = await createTestClickHouse();
});
afterAll(() => house.drop());

const query: AnalysisQuery = {
  time_range: { from: AT_S, to: AT_S + 1 },
  bucket_size: 'none',
  measures: ['maximum', 'item_count'],
};
const ofSubjects: AnalysisQuery = { ...query, measures: ['unique:@subject_id', 'item_count'] };

/** An event whose reversal row is there and takes nothing back yet, as if it had been read before the event was. */
async function tornEvent(projectId: string) {
  const subject = { subjectType: 'user', subjectId: 'u1' };
  const row = usageRow({
    projectId,
    occurredAt: AT_S,
    ...subject,
    items: [usageItem({ quantity: stored('1') })],
  });
  const correction = correctedRows(row, { items: [usageItem({ quantity: stored('2') })] });
  await insertUsageRows(house.clickhouse, [row, { ...correction.reversal, items: [] }]);
  return correction;
}

it.each([
  [query, 'prj_torn', { maximum: '2' }],
  [ofSubjects, 'prj_torn_subjects', { 'unique:@subject_id': 1 }],
])(
  'usage is read again when a correction arrives between two reads of one query',
  async (asked, projectId, row) => {
    const correction = await tornEvent(projectId);
    let reads = 0;
    const clickhouse: Pick<ClickHouse, 'query'> = {
      query: async (...sent) => {
        if (++reads === 2) await insertCorrections(house.clickhouse, [correction]);
        return house.clickhouse.query(...sent);
      },
    };
    const { rows } = await analyze(clickhouse, CLOCK, { ...TEST_SCOPE, projectId }, asked);
    expect(rows).toMatchObject([{ ...row, item_count: 1 }]);
    expect(reads).toBe(2);
  },
);

it('a query is refused when usage is never complete', async () => {
  const projectId = 'prj_always_torn';
  await tornEvent(projectId);
  const asked = analyze(house.clickhouse, CLOCK, { ...TEST_SCOPE, projectId }, query);
  await expect(asked).rejects.toThrow('corrected during each read');
});
