import type { AnalysisQuery } from '@tollgate/contract';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { insertCorrections, insertUsageRows, usageRow, voidedRows } from '../../../testing/index.js';
import { StreamFixture } from './stream.testing.js';

let fixture: StreamFixture;
beforeAll(async () => {
  fixture = await StreamFixture.open();
});
afterAll(() => fixture.close());

/** Records that a minute has changed, as the projector does. */
async function recordChange(atS: number): Promise<void> {
  await fixture.api.postgres.pool.query(
    `insert into projections (project_id, spans, at_ms) values ($1, int8multirange(int8range($2, $3)), $4)`,
    [fixture.project.projectId, atS - (atS % 60), atS - (atS % 60) + 60, fixture.nowS * 1_000],
  );
}

it.each<[string, Partial<AnalysisQuery>]>([
  ['a query with buckets', { bucket_size: '1h' }],
  ['a query with a limit', { bucket_size: '1h', group_by: ['model'], limit: 2 }],
  ['a query of measures that do not add up', { bucket_size: '1h', measures: ['p95', 'unique:model'] }],
  ['a query of totals', { bucket_size: 'none' }],
  ['a query that adds up quantities', { bucket_size: '1h', split_by: [], measures: ['quantity'] }],
])('sends a bucket without rows once its only event is voided: %s', async (name, asked) => {
  const { tenantId, projectId } = fixture.project;
  const day = fixture.nowS - (fixture.nowS % 86_400) - 86_400 * (name.length - 10);
  const query: AnalysisQuery = { time_range: { from: day, to: day + 7_200 }, ...asked };
  const [kept, voided] = [day + 5, day + 3_605].map((occurredAt) =>
    usageRow({ tenantId, projectId, occurredAt }),
  ) as [ReturnType<typeof usageRow>, ReturnType<typeof usageRow>];
  await insertUsageRows(fixture.store.clickhouse, [kept, voided]);
  const client = await fixture.follow({ queries: [query] });
  expect((await client.next()).name).toBe('ready');
  expect((await fixture.ask(query)).rows).toHaveLength(asked.bucket_size === 'none' ? 1 : 2);
  await insertCorrections(fixture.store.clickhouse, [voidedRows(voided)]);
  await recordChange(voided.occurredAt);
  await fixture.tick();
  const { name: event, data } = await client.next();
  expect(event).toBe('buckets');
  const { rows } = await fixture.ask(query);
  expect(rows).toHaveLength(1);
  expect(data.buckets).toContain(asked.bucket_size === 'none' ? null : day + 3_600);
  expect(data.rows).toEqual(rows.filter(({ bucket }) => data.buckets.includes(bucket)));
});
