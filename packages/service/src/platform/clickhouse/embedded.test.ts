import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeClickHouse } from './contract.testing.js';
import { openEmbeddedClickHouse } from './embedded.js';
import { applyClickHouseMigrations } from './migrate.js';
import type { ClickHouse } from './port.js';

// Braces, which the engine would expand in the name of a file to insert.
const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-{a,b}-'));
let clickhouse: ClickHouse;
beforeAll(async () => {
  clickhouse = await openEmbeddedClickHouse({ dataDir });
  await applyClickHouseMigrations(clickhouse);
});
afterAll(async () => {
  await clickhouse.close();
  rmSync(dataDir, { recursive: true, force: true });
});

describeClickHouse('embedded', () => clickhouse);

describe('embedded only', () => {
  test('a second opening in the process is refused in one sentence', async () => {
    await expect(openEmbeddedClickHouse({ dataDir: tmpdir() })).rejects.toThrow(
      'already has ClickHouse open',
    );
  });

  test('a long query does not hold up an insert', async () => {
    await clickhouse.command('CREATE TABLE beside (n UInt64) ENGINE = MergeTree ORDER BY n');
    const order: string[] = [];
    const slow = clickhouse
      .query('SELECT sum(sipHash64(number)) AS s FROM numbers(300000000)')
      .then(() => order.push('query'));
    const bytes = Buffer.alloc(8);
    await clickhouse.insertRows('beside', ['n'], { bytes }, 1, 'beside-1').then(() => order.push('insert'));
    await slow;
    expect(order).toEqual(['insert', 'query']);
  });

  test('closing ends what still runs, twice is harmless, and the data is there when it is opened again', async () => {
    const endless = clickhouse.query('SELECT sum(sipHash64(number)) AS s FROM numbers(1000000000000)');
    const ended = expect(endless).rejects.toThrow('cancelled');
    // The session is busy with the query once another answers that it runs.
    await Promise.all([ended, clickhouse.close()]);
    await clickhouse.close();
    clickhouse = await openEmbeddedClickHouse({ dataDir });
    expect(await clickhouse.query('SELECT count() AS n FROM beside')).toEqual([{ n: '1' }]);
    expect(await applyClickHouseMigrations(clickhouse)).toEqual([]);
  });
});
