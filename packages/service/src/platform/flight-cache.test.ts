import { setImmediate as settled } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { FlightCache } from './flight-cache.js';

/** A cache over look-ups that return when the test lets them. */
function cacheUnderTest() {
  const asked: string[] = [];
  const answers: { resolve(value: string): void; reject(error: Error): void }[] = [];
  const time = { nowMs: 0 };
  const cache = new FlightCache<string>({
    lookUp: (key) => {
      asked.push(key);
      return new Promise((resolve, reject) => answers.push({ resolve, reject }));
    },
    ageMsMax: 500,
    entriesMax: 2,
    nowMs: () => time.nowMs,
  });
  return { cache, asked, answers, time };
}

describe('a flight cache', () => {
  test('asks once for all who ask at the same time', async () => {
    const { cache, asked, answers } = cacheUnderTest();
    const [first, second] = [cache.get('a'), cache.get('a')];
    answers[0]?.resolve('A');
    expect(await Promise.all([first, second])).toEqual(['A', 'A']);
    expect(asked).toEqual(['a']);
    expect(cache.get('a')).toBe('A');
  });

  test('never returns a value older than its age, counted from the call', async () => {
    const { cache, asked, answers, time } = cacheUnderTest();
    const first = cache.get('a');
    time.nowMs = 400;
    answers[0]?.resolve('A');
    await first;
    time.nowMs = 499;
    expect(cache.get('a')).toBe('A');
    time.nowMs = 500;
    expect(cache.get('a')).toBeInstanceOf(Promise);
    expect(asked).toEqual(['a', 'a']);
  });

  test('renews in the background what is still asked for', async () => {
    const { cache, asked, answers, time } = cacheUnderTest();
    const first = cache.get('a');
    answers[0]?.resolve('old');
    await first;
    time.nowMs = 250;
    expect(cache.get('a')).toBe('old');
    expect(cache.get('a')).toBe('old');
    expect(asked).toEqual(['a', 'a']);
    answers[1]?.resolve('new');
    await settled();
    expect(cache.get('a')).toBe('new');
  });

  test('a failed renewal leaves the entry to expire; a failed look-up is the caller’s', async () => {
    const { cache, answers, time } = cacheUnderTest();
    const first = cache.get('a');
    answers[0]?.resolve('A');
    await first;
    time.nowMs = 300;
    expect(cache.get('a')).toBe('A');
    answers[1]?.reject(new Error('away'));
    await settled();
    expect(cache.get('a')).toBe('A');
    time.nowMs = 600;
    const later = cache.get('a');
    answers.at(-1)?.reject(new Error('still away'));
    await expect(later).rejects.toThrow('still away');
  });

  test('does not remember the answer to a question that was asked before it was cleared', async () => {
    const { cache, asked, answers } = cacheUnderTest();
    const before = cache.get('a');
    cache.clear();
    answers[0]?.resolve('revoked meanwhile');
    await before;
    expect(cache.get('a')).toBeInstanceOf(Promise);
    expect(asked).toEqual(['a', 'a']);
  });

  test('holds no more entries than it may', async () => {
    const { cache, answers } = cacheUnderTest();
    for (const key of ['a', 'b', 'c']) {
      const found = cache.get(key);
      answers.at(-1)?.resolve(key);
      await found;
    }
    expect(cache.get('c')).toBe('c');
    expect(cache.get('b')).toBe('b');
    expect(cache.get('a')).toBeInstanceOf(Promise);
  });
});
