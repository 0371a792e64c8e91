import { expect, test } from 'vitest';
import { DomainError } from '../../kernel/errors.js';
import { FailureLog } from './failure-log.js';

const request = {
  id: 'req-1',
  method: 'POST',
  routeOptions: { url: '/x', bodyLimit: 1 },
  raw: { readableAborted: false },
};

test('an outage is one line a second, with the number of requests that are not shown', () => {
  const lines: unknown[] = [];
  let nowMs = 0;
  const log = { error: () => {}, warn: (fields: object, text: string) => void lines.push([text, fields]) };
  const failures = new FailureLog(log as never, () => nowMs);
  const away = new DomainError('store_unavailable', { cause: new Error('connection refused') });
  for (const atMs of [0, 1, 999, 1_000, 1_001]) {
    nowMs = atMs;
    failures.outage(away, request);
  }
  const line = { requestId: 'req-1', method: 'POST', route: '/x', reason: 'connection refused' };
  expect(lines).toEqual([
    ['store_unavailable', { ...line, unlogged: 0 }],
    ['store_unavailable', { ...line, unlogged: 2 }],
  ]);
});
