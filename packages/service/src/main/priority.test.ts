import { readFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { expect, test } from 'vitest';
import { createLog } from '../platform/log/index.js';
import { createTestPostgres, waitFor } from '../testing/index.js';
import { yieldServerProcesses } from './priority.js';

const isAbsent = (error: NodeJS.ErrnoException) => {
  if (error.code === 'ENOENT') return undefined;
  throw error;
};

test.runIf(process.platform === 'linux')(
  'the server processes of a pool let others go before them',
  async () => {
    const { postgres, drop } = await createTestPostgres();
    try {
      yieldServerProcesses(postgres.pool, createLog({ level: 'silent' }));
      const clients = await Promise.all(Array.from({ length: 4 }, () => postgres.pool.connect()));
      for (const client of clients) {
        const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
        const pid = rows[0]?.pid ?? 0;
        expect(getPriority(pid)).toBe(10);
        const group = () => readFile(`/proc/${pid}/autogroup`, 'utf8').catch(isAbsent);
        // A kernel may have no process groups with a nice value.
        await waitFor(async () => (await group())?.includes('nice 10') ?? true);
      }
      for (const client of clients) client.release();
    } finally {
      await drop();
    }
  },
);
