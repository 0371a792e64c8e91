import { mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestClickHouse, type TestClickHouse, waitFor } from '../../testing/index.js';
import { describeClickHouse } from './contract.testing.js';
import { describeRollups } from './rollups.testing.js';
import { connectClickHouse } from './server.js';

let store: TestClickHouse;
beforeAll(async () => {
  store = await createTestClickHouse();
});
afterAll(() => store.drop());

describeClickHouse('on a server', () => store.clickhouse);
describeRollups('on a server', () => store.clickhouse);

test.runIf(process.platform === 'linux')('a file is closed when the server cannot be reached', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-unreached-'));
  const file = join(folder, 'rows');
  await writeFile(file, 'rows');
  const away = connectClickHouse({ url: 'http://127.0.0.1:1' });
  try {
    await expect(away.insertRows('events', ['text'], { file }, 1, 't1')).rejects.toThrow('ECONNREFUSED');
    const isOpen = async () => {
      const open = await readdir('/proc/self/fd');
      const paths = await Promise.all(open.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
      return paths.includes(file);
    };
    await waitFor(async () => !(await isOpen()), { what: 'the file to be closed' });
  } finally {
    await away.close();
    await rm(folder, { recursive: true });
  }
});
