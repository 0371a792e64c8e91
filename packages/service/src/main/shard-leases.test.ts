import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { createMetrics } from '../platform/metrics/index.js';
import { changeShards } from '../platform/queue/index.js';
import { createTestPostgres, waitFor } from '../testing/index.js';
import { ShardLeases } from './shard-leases.js';

it('warns once, with the way out, in a worker without a shard', async () => {
  const test = await createTestPostgres();
  await changeShards(test.postgres, 1);
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  /** Starts a worker; returns how it sees its shards, and what it warns of. */
  const start = async () => {
    const warnings: unknown[][] = [];
    let changes = 0;
    const leases = await ShardLeases.open({ postgres: test.postgres, owner: randomUUID() }, ['worker'], {
      log: { warn: (...warning: unknown[]) => void warnings.push(warning) },
      metrics: createMetrics(),
      onChange: () => {
        changes += 1;
      },
    });
    running.push(leases.run(stop.signal));
    await waitFor(() => changes > 0);
    return { leases, warnings };
  };
  const [first, second] = [await start(), await start()];
  expect([first, second].map(({ leases }) => leases.owned('worker').leases.length)).toEqual([1, 0]);
  expect(first.warnings).toEqual([]);
  expect(second.warnings).toEqual([
    [
      { role: 'worker', shards: 1 },
      'this worker is standby, because other processes have all shards; "tollgate shards 2" gives it work',
    ],
  ]);
  stop.abort();
  await Promise.all(running);
  await test.drop();
});
