import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fromStored, toText } from '../../kernel/decimal.js';
import { createLog } from '../../platform/log/index.js';
import { transaction } from '../../platform/postgres/index.js';
import {
  createProject,
  createTestClickHouse,
  createTestPostgres,
  failedRow,
  idOf,
  insertUsageRows,
  stored,
  type TestClickHouse,
  type TestPostgres,
  type TestProject,
  usageItem,
  usageRow,
} from '../../testing/index.js';
import { countIngested } from '../../testing/ingest-totals.js';
import type { UsageEventRow } from '../usage/index.js';
import { verifyUsage } from './index.js';

const DAY_S = 86_400;
const FROM_S = 20_254 * DAY_S;
const log = createLog({ level: 'silent' });

let clickhouse: TestClickHouse;
let postgres: TestPostgres;
let project: TestProject;
/** Committed batches by id, on their way to ClickHouse. */
let waiting: Map<number, UsageEventRow[]>;

beforeEach(async () => {
  clickhouse = await createTestClickHouse();
  postgres = await createTestPostgres();
  project = await createProject(postgres.postgres, 'ten_1', 'prj_1');
  waiting = new Map();
});

afterEach(async () => {
  await clickhouse.drop();
  await postgres.drop();
});

const verify = () => verifyUsage({ postgres: postgres.postgres, clickhouse: clickhouse.clickhouse, log });
const command = (text: string) => clickhouse.clickhouse.command(text);

/** Commits a batch of new events as a worker does. */
async function commitBatch(rows: readonly UsageEventRow[]): Promise<void> {
  const id = await transaction(postgres.postgres, async (tx) => {
    for (const row of rows) {
      const day = Math.floor(row.occurredAt / DAY_S);
      await sql`insert into usage_event_ids values (${project.projectNo}, ${idOf(row)}::uuid)`.execute(tx);
      if (row.status === 'failed') {
        await sql`
          insert into failed_events values (${row.tenantId}, ${row.projectId}, ${idOf(row)}::uuid, ${row.occurredAt}, 0,
            'ers_1', 'wrong_type', 0, '{}')
        `.execute(tx);
      }
      await sql`
        insert into usage_event_totals as t values (${row.tenantId}, ${row.projectId}, ${day},
          ${row.status === 'processed' ? 1 : 0}, ${row.status === 'failed' ? 1 : 0},
          ${row.items.some(({ pricingSource }) => pricingSource === 'unpriced') ? 1 : 0})
        on conflict (project_id, day) do update set processed_count = t.processed_count + excluded.processed_count,
          failed_count = t.failed_count + excluded.failed_count,
          unpriced_count = t.unpriced_count + excluded.unpriced_count
      `.execute(tx);
      for (const { metric, unit, currency, quantity, amount } of row.items) {
        await sql`
          insert into usage_totals as t values (${row.tenantId}, ${row.projectId}, ${day}, ${metric}, ${unit}, ${currency},
            1, ${toText(fromStored(quantity))}::numeric, ${toText(fromStored(amount))}::numeric)
          on conflict (project_id, day, metric, unit, currency) do update set item_count = t.item_count + 1,
            quantity = t.quantity + excluded.quantity, amount = t.amount + excluded.amount
        `.execute(tx);
      }
    }
    const inserted = await sql<{ id: number }>`
      insert into usage_batches (created_at_ms, oldest_received_at_ms, event_count, item_count, byte_count, project_ids, bytes)
      values (0, 0, ${rows.length}, 0, 0, array[${project.projectId}], ''::bytea) returning id
    `.execute(tx);
    await countIngested(tx);
    return inserted.rows[0]?.id ?? 0;
  });
  waiting.set(id, [...rows]);
}

/** Projects the waiting batches as the projector does. */
async function projectBatches(): Promise<void> {
  for (const [id, rows] of waiting) {
    await insertUsageRows(clickhouse.clickhouse, rows);
    await postgres.postgres.pool.query('delete from usage_batches where id = $1', [id]);
    waiting.delete(id);
  }
}

async function addHistory(): Promise<void> {
  const rows = [0, 1, 2, 40].flatMap((day) => [
    usageRow({
      occurredAt: FROM_S + day * DAY_S,
      items: [usageItem(), usageItem({ currency: '', pricingSource: 'unpriced', metric: 'llm.calls' })],
    }),
    usageRow({
      occurredAt: FROM_S + day * DAY_S + 86_399,
      items: [usageItem({ quantity: stored('0.000000000000000001') })],
    }),
    failedRow({ occurredAt: FROM_S + day * DAY_S + 7 }),
  ]);
  await commitBatch(rows);
  await projectBatches();
}

describe('verifyUsage', () => {
  it('has nothing to say about an empty service', async () => {
    expect(await verify()).toMatchObject({
      status: 'equal',
      days_compared: 0,
      differences: [],
      unsettled: [],
    });
  });

  it('finds both sides equal after the same history', async () => {
    await addHistory();
    const report = await verify();
    expect(report).toMatchObject({ status: 'equal', days_compared: 4, difference_count: 0, differences: [] });
    expect(report.values_compared).toBe(4 * (3 * 2 * 4 + 2 * 2 * 3 + 3 + 1 + 2));
  });

  it('counts a reprocessed event by its last attempt', async () => {
    const failed = failedRow({ occurredAt: FROM_S });
    await commitBatch([failed]);
    await projectBatches();
    const { rawEventId: _, ...mended } = usageRow({ occurredAt: FROM_S, attempt: 1 });
    await insertUsageRows(clickhouse.clickhouse, [{ ...mended, rawEventId: failed.rawEventId }]);
    await postgres.postgres.pool.query('update usage_event_totals set processed_count = 1, failed_count = 0');
    await postgres.postgres.pool.query('delete from failed_events');
    await countIngested(postgres.postgres.db);
    await postgres.postgres.pool.query(
      `insert into usage_totals values ('ten_1', 'prj_1', 20254, 'llm.tokens', 'token', 'USD', 1, 10, 0.01)`,
    );
    expect(await verify()).toMatchObject({ status: 'equal', days_compared: 1 });
  });

  it('recounts events without a price, but not those of days whose count is unknown', async () => {
    await addHistory();
    await postgres.postgres.pool.query(
      'update usage_event_totals set unpriced_count = null where day = (select min(day) from usage_event_totals)',
    );
    expect(await verify()).toMatchObject({ status: 'equal', difference_count: 0 });
    await postgres.postgres.pool.query('update usage_event_totals set unpriced_count = unpriced_count + 1');
    const { status, differences } = await verify();
    expect(status).toBe('different');
    expect(differences).toHaveLength(3);
    expect(differences[0]).toMatchObject({ measure: 'unpriced_count', expected: '2', found: '1' });
  });

  it('reports a row that was tampered with, in the table where it was', async () => {
    await addHistory();
    await command(
      `ALTER TABLE usage_rollup UPDATE amount = amount + 1
       WHERE resolution = 900 AND bucket < ${FROM_S + 900} AND metric = 'llm.tokens'
       SETTINGS mutations_sync = 2`,
    );
    expect(await verify()).toMatchObject({
      status: 'different',
      difference_count: 1,
      differences: [
        {
          project_id: 'prj_1',
          day: '2025-06-15',
          store: 'usage_rollup_15m',
          metric: 'llm.tokens',
          unit: 'token',
          currency: 'USD',
          measure: 'amount',
          expected: '0.02',
          found: '1.02',
        },
      ],
    });
  });

  it('reports lost and foreign rows', async () => {
    await addHistory();
    await command(`DELETE FROM usage_events WHERE occurred_at = toDateTime(${FROM_S + 40 * DAY_S}, 'UTC')`);
    await insertUsageRows(clickhouse.clickhouse, [usageRow({ projectId: 'prj_unknown', items: [] })]);
    const { differences } = await verify();
    expect(
      differences.map(({ store, measure, expected, found }) => [store, measure, expected, found]),
    ).toEqual(
      expect.arrayContaining([
        ['usage_events', 'processed_count', '2', '1'],
        ['usage_events', 'item_count', '1', '0'],
        ['usage_events', 'processed_count', '0', '1'],
      ]),
    );
    expect(differences.every(({ store }) => store === 'usage_events')).toBe(true);
  });

  it('reports an event that was recorded and never counted', async () => {
    await addHistory();
    const id = FROM_S.toString(16) + randomBytes(12).toString('hex');
    await postgres.postgres.pool.query('insert into usage_event_ids values ($1, $2::uuid)', [
      project.projectNo,
      id,
    ]);
    expect((await verify()).differences).toMatchObject([
      { store: 'usage_event_ids', measure: 'event_count', expected: '3', found: '4', day: '2025-06-15' },
    ]);
  });

  it('counts each event id in a block, on its day', async () => {
    const moveAll = `with moved as (delete from usage_event_ids returning project_no, raw_event_id as id)
      insert into usage_event_id_blocks
      select project_no, (array_agg(id order by id))[1], array_agg(id order by id) from moved group by project_no`;
    await addHistory();
    await postgres.postgres.pool.query(moveAll);
    expect(await verify()).toMatchObject({ status: 'equal', differences: [] });
    await commitBatch([usageRow({ occurredAt: FROM_S })]);
    await projectBatches();
    expect(await verify()).toMatchObject({ status: 'equal', differences: [] });
    await postgres.postgres.pool.query(
      'update usage_event_id_blocks set ids = ids[:cardinality(ids) - 1] where cardinality(ids) > 1',
    );
    expect((await verify()).differences).toMatchObject([
      { store: 'usage_event_ids', measure: 'event_count' },
    ]);
  });

  it('recounts the ledger, and differs when that does', async () => {
    const { pool } = postgres.postgres;
    await pool.query(`insert into accounts values ('ten_1', 'prj_1', 'acct_1', 'Acme', null, 0)`);
    await pool.query(
      `insert into wallets (tenant_id, project_id, account_id, currency, balance, created_at)
       values ('ten_1', 'prj_1', 'acct_1', 'USD', 7, 0)`,
    );
    const { status, difference_count, ledger } = await verify();
    expect({ status, difference_count }).toEqual({ status: 'different', difference_count: 0 });
    expect(ledger).toMatchObject({
      wallets: 1,
      difference_count: 2,
      differences: [
        { account_id: 'acct_1', measure: 'balance', expected: '0', found: '7' },
        { account_id: 'acct_1', measure: 'credits_left', expected: '0', found: '7' },
      ],
    });
  });

  it('waits for batches that are on their way', async () => {
    await addHistory();
    await commitBatch([usageRow({ occurredAt: FROM_S })]);
    const verified = verify();
    await setImmediate();
    await projectBatches();
    expect(await verified).toMatchObject({ status: 'equal', days_compared: 4 });
  });

  it('leaves open what does not reach ClickHouse in time, and judges the rest', async () => {
    await addHistory();
    await insertUsageRows(clickhouse.clickhouse, [usageRow({ projectId: 'prj_unknown', items: [] })]);
    await commitBatch([usageRow({ occurredAt: FROM_S })]);
    const report = await verifyUsage({
      postgres: postgres.postgres,
      clickhouse: clickhouse.clickhouse,
      log,
      projectionMsMax: 100,
    });
    expect(report.status).toBe('different');
    expect(report.differences).toMatchObject([{ project_id: 'prj_unknown', found: '1' }]);
    const days = ['2025-06-15', '2025-06-16', '2025-06-17', '2025-07-25'];
    expect(report.unsettled).toEqual(days.map((day) => ({ project_id: 'prj_1', day, reason: 'waiting' })));
  });

  it('is exact while events of the same day are rated and projected all the time', async () => {
    await addHistory();
    let isDone = false;
    const batch = () => [usageRow({ occurredAt: FROM_S + 5 }), failedRow({ occurredAt: FROM_S + 6 })];
    const traffic = (async () => {
      while (!isDone) await Promise.all([commitBatch(batch()), projectBatches()]);
      await projectBatches();
    })();
    try {
      for (let run = 0; run < 3; run++) {
        expect(await verify()).toMatchObject({
          status: 'equal',
          differences: [],
          unsettled: [],
          days_compared: 4,
        });
      }
    } finally {
      isDone = true;
      await traffic;
    }
    expect(await verify()).toMatchObject({ status: 'equal' });
  });
});
