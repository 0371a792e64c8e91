import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createMetrics } from '../platform/metrics/index.js';
import { batchRecord, createTestPostgres, testEvent } from '../testing/index.js';
import { openQueue } from './segment-queue.js';

const RECORD = batchRecord({ tenantId: 'ten_1', projectId: 'prj_1', projectNo: 1, storage: 'shared' }, [
  testEvent('k1'),
]);

test('a queue measures each flush, also one that fails', async () => {
  const { postgres, drop } = await createTestPostgres();
  const metrics = createMetrics();
  let appended = 0;
  const { quotas, close } = await openQueue(
    { postgres, folders: undefined, objects: undefined },
    { objectStoreUrl: undefined },
    {
      log: pino({ level: 'silent' }),
      metrics,
      onAppended: () => {
        appended += 1;
      },
      writer: { number: 0, count: 1 },
    },
  );
  const flush = () => quotas.appendWithinQuota([{ record: RECORD, monthlyEventLimit: -1 }]);
  expect(await flush()).toEqual([]);
  await postgres.pool.query('alter table segments rename to gone');
  await expect(flush()).rejects.toThrow('segments');
  const text = await metrics.getSingleMetricAsString('tollgate_queue_flush_seconds');
  expect(text).toContain('tollgate_queue_flush_seconds_count 2');
  expect(appended).toBe(1);
  await close();
  await drop();
});
