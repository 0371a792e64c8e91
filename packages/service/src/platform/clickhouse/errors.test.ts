import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createTestClickHouse } from '../../testing/index.js';
import { isClickHouseUnavailable } from './errors.js';
import { ClickHouseUnavailableError } from './port.js';
import { connectClickHouse } from './server.js';

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => expect.unreachable('it should have failed'),
    (error: unknown) => error,
  );
}

describe('unavailable', () => {
  test('is a server that does not answer, for every kind of request', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-away-'));
    const file = join(folder, 'rows.bin');
    writeFileSync(file, Buffer.alloc(1_000_000));
    const away = connectClickHouse({ url: 'http://127.0.0.1:1/none' });
    try {
      const failures = await Promise.all(
        [
          away.query('SELECT 1'),
          away.command('SELECT 1'),
          away.insertRows('t', ['a'], { file }, 1, 'g1'),
          away.insertRows('t', ['a'], { bytes: Buffer.alloc(8) }, 1, 'g1'),
        ].map(failureOf),
      );
      expect(failures.map(isClickHouseUnavailable)).toEqual([true, true, true, true]);
    } finally {
      await away.close();
      rmSync(folder, { recursive: true });
    }
  });

  test('is a query that took too long or too much, as the limits say', async () => {
    const { url, drop } = await createTestClickHouse();
    const limits = { executionSecondsMax: 1, queryMemoryBytesMax: 20_000_000 };
    const limited = connectClickHouse({ url, limits });
    try {
      const long = await failureOf(
        limited.query('SELECT sum(sipHash64(number)) AS s FROM numbers(1000000000000)'),
      );
      expect(long).toMatchObject({ type: 'TIMEOUT_EXCEEDED' });
      const large = await failureOf(
        limited.query('SELECT length(groupArray(number)) AS n FROM numbers(100000000)'),
      );
      expect(large).toMatchObject({ type: 'MEMORY_LIMIT_EXCEEDED' });
      const wide = await failureOf(
        limited.query(
          'SELECT repeat(toString(number), 1000) AS text FROM numbers(2000) SETTINGS max_result_bytes = 1000000',
        ),
      );
      expect(wide).toMatchObject({ type: 'TOO_MANY_ROWS_OR_BYTES' });
      expect([long, large, wide].map(isClickHouseUnavailable)).toEqual([true, true, true]);
    } finally {
      await limited.close();
      await drop();
    }
  });

  test('is not a query with more groups than its memory holds: that goes on, on disk', async () => {
    const { url, drop } = await createTestClickHouse();
    const limited = connectClickHouse({ url, limits: { queryMemoryBytesMax: 80_000_000 } });
    try {
      const groups = limited.query(
        `SELECT concat('request-', toString(number)) AS name, sum(toDecimal256(number, 18)) AS sum
         FROM numbers(800000) GROUP BY name ORDER BY name DESC LIMIT 1`,
      );
      expect(await groups).toEqual([{ name: 'request-99999', sum: '99999' }]);
    } finally {
      await limited.close();
      await drop();
    }
  });

  test('is not a mistake of ours', () => {
    expect(isClickHouseUnavailable(new ClickHouseUnavailableError('x'))).toBe(true);
    expect(isClickHouseUnavailable(Object.assign(new Error('x'), { type: 'SYNTAX_ERROR', code: '62' }))).toBe(
      false,
    );
    expect(isClickHouseUnavailable(new TypeError('x is not a function'))).toBe(false);
    expect(isClickHouseUnavailable(undefined)).toBe(false);
  });
});
