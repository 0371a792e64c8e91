import { afterAll, beforeAll, expect, it } from 'vitest';
import { transaction } from '../../platform/postgres/index.js';
import { emit } from './outbox-store.js';
import { createTestWebhooks, type TestWebhooks } from './webhooks.testing.js';

let hooks: TestWebhooks;
beforeAll(async () => {
  hooks = await createTestWebhooks();
});
afterAll(() => hooks.close());

it('records very many events with several statements, each event once and in their order', async () => {
  const { tenantId, projectId } = hooks;
  const events = Array.from({ length: 2_010 }, (_, n) => ({
    ...{ tenantId, projectId, type: 'a', data: { n }, atMs: hooks.clock.nowMs() },
    dedupeKey: `key ${n % 2_005}`,
  }));
  let statements = 0;
  await transaction(hooks.postgres, (tx) =>
    emit(
      tx.withPlugin({
        transformQuery: ({ node }) => node,
        transformResult: async ({ result }) => {
          statements++;
          return result;
        },
      }),
      events,
    ),
  );
  expect(statements).toBe(3);
  const { rows } = await hooks.postgres.pool.query('select payload from webhook_messages order by id');
  const numbers = rows.map(({ payload }) => JSON.parse(payload).data.n);
  expect(numbers).toEqual(Array.from({ length: 2_005 }, (_, n) => n));
});
