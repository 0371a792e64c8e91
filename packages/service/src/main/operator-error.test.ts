import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { readConfig } from '../config.js';
import { acquireInstanceLock } from '../platform/instance-lock.js';
import { newScratchFolder } from '../testing/scratch-folder.js';
import { announceUrl } from './instance.js';
import { operatorSentence } from './operator-error.js';
import { doTask } from './with-stores.js';

const server = createServer((request) => request.socket.destroy());
afterEach(() => server.close());

it('says in a sentence that a store was lost, and shows the stack of a fault', () => {
  const lost = (message: string, code: string) =>
    operatorSentence(Object.assign(new Error(message), { code }));
  expect(lost('read ECONNRESET', 'ECONNRESET')).toBe(
    'The connection to a store was lost (read ECONNRESET). Run the command again when it is available.',
  );
  expect(operatorSentence(new Error('Timeout error.'))).toMatch(/^The connection to a store was lost/);
  expect(operatorSentence(new TypeError('x is undefined'))).toBeUndefined();
});

it('says that the service that runs a task has ended', async () => {
  const dataDir = newScratchFolder('operator-');
  const lock = await acquireInstanceLock(dataDir);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  announceUrl(dataDir, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const config = readConfig({ TOLLGATE_DATA_DIR: dataDir, TOLLGATE_SERVICE_KEY: 'a-service-key-0123' });
  const task = { path: '/admin/v1/verify', run: () => Promise.reject(new Error('a service runs')) };
  const failure = await doTask(config, task).catch((error: unknown) => error);
  await lock.release();
  expect(operatorSentence(failure)).toBe(
    'The running service did not respond (socket hang up). Run the command again.',
  );
});
