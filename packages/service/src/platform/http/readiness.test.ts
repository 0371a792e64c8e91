import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Readiness } from './readiness.js';

let nowMs: number;
let changes: string[];
let readiness: Readiness;
beforeEach(() => {
  nowMs = 0;
  changes = [];
  readiness = new Readiness({
    onFailure: (name, error) => changes.push(`${name} fails: ${error}`),
    onRecovery: (name) => changes.push(`${name} works`),
    nowMs: () => nowMs,
  });
});
afterEach(() => {
  vi.useRealTimers();
});

const withCode = (code: string) => Object.assign(new Error(code), { code });

describe('readiness', () => {
  test.each([
    ['disk_full', withCode('ENOSPC')],
    ['disk_full', withCode('53100')],
    ['disk_full', new Error('not written', { cause: withCode('EDQUOT') })],
    ['read_only', withCode('EROFS')],
    ['read_only', withCode('EACCES')],
    ['read_only', withCode('25006')],
    ['timeout', withCode('57014')],
    ['unavailable', withCode('ECONNREFUSED')],
    ['unavailable', 'no error at all'],
  ])('%s is what everybody may know of %s', async (problem, error) => {
    readiness.add('queue', () => Promise.reject(error));
    readiness.add('other', () => {});
    expect(await readiness.report()).toEqual({
      ready: false,
      checks: { queue: 'failed', other: 'ok' },
      problems: { queue: problem },
    });
    expect(changes).toEqual([`queue fails: ${error}`]);
  });

  test('says of a check that it fails, why if that changes, and that it works again', async () => {
    let error: Error | undefined;
    readiness.add('queue', () => (error === undefined ? undefined : Promise.reject(error)));
    const found = [undefined, withCode('ENOSPC'), withCode('53100'), withCode('EROFS'), undefined, undefined];
    for (error of found) {
      await readiness.report();
      nowMs += 1_000;
    }
    expect(changes).toEqual(['queue fails: Error: ENOSPC', 'queue fails: Error: EROFS', 'queue works']);
  });

  test('is checked at most once a second, however many ask', async () => {
    let runs = 0;
    readiness.add('queue', () => {
      runs += 1;
    });
    await Promise.all([readiness.report(), readiness.report()]);
    nowMs += 400;
    for (let asked = 0; asked < 10; asked++) await readiness.report();
    expect(runs).toBe(1);
    nowMs += 600;
    await readiness.report();
    expect(runs).toBe(2);
  });

  test('a check without an end counts as failed, is aborted, and is not run twice at once', async () => {
    vi.useFakeTimers();
    let runs = 0;
    let signal: AbortSignal | undefined;
    readiness.add('queue', (given) => {
      runs += 1;
      signal = given;
      return new Promise(() => {});
    });
    for (let asked = 0; asked < 2; asked++) {
      const report = readiness.report();
      await vi.advanceTimersByTimeAsync(2_000);
      nowMs += 2_000;
      expect(await report).toMatchObject({ ready: false, problems: { queue: 'timeout' } });
    }
    expect([runs, signal?.aborted]).toEqual([1, true]);
  });

  test('ends with the shutdown at once, whatever was found before', async () => {
    readiness.add('queue', () => {});
    expect((await readiness.report()).ready).toBe(true);
    readiness.beginShutdown();
    expect(await readiness.report()).toEqual({ ready: false, checks: {} });
  });

  test('ends with a drain, during which requests are still served', async () => {
    readiness.add('queue', () => {});
    expect((await readiness.report()).ready).toBe(true);
    const running = readiness.report();
    readiness.beginDrain();
    expect((await running).ready).toBe(false);
    expect(await readiness.report()).toEqual({ ready: false, checks: {} });
    expect([readiness.draining, readiness.shuttingDown]).toEqual([true, false]);
  });
});
