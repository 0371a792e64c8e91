import { describe, expect, it } from 'vitest';
import { endsWithin, resultWithin, unlessAborted } from './wait.js';

const never = new Promise<never>(() => {});
const LONG_MS = 60_000;

describe('work with a time limit', () => {
  it('gives its result or its error when it ends in time', async () => {
    const onLate = () => new Error('late');
    expect(await resultWithin(Promise.resolve('done'), LONG_MS, onLate)).toBe('done');
    await expect(resultWithin(Promise.reject(new Error('failed')), LONG_MS, onLate)).rejects.toThrow(
      'failed',
    );
  });

  it('is given up afterwards, with the error that was chosen, once', async () => {
    let late = 0;
    const onLate = () => new Error(`late ${++late}`);
    await expect(resultWithin(never, 1, onLate)).rejects.toThrow('late 1');
    expect(late).toBe(1);
  });

  it('ends within the time or does not', async () => {
    expect(await endsWithin(Promise.resolve(), LONG_MS)).toBe(true);
    expect(await endsWithin(never, 1)).toBe(false);
    await expect(endsWithin(Promise.reject(new Error('failed')), LONG_MS)).rejects.toThrow('failed');
  });
});

describe('work that a signal may abort', () => {
  it('gives its result or its error without an abort', async () => {
    const { signal } = new AbortController();
    expect(await unlessAborted(Promise.resolve('done'), undefined)).toBe('done');
    expect(await unlessAborted(Promise.resolve('done'), signal)).toBe('done');
    await expect(unlessAborted(Promise.reject(new Error('failed')), signal)).rejects.toThrow('failed');
  });

  it('is given up as soon as the signal aborts, with its reason', async () => {
    const controller = new AbortController();
    const result = unlessAborted(never, controller.signal);
    controller.abort(new Error('stopped'));
    await expect(result).rejects.toThrow('stopped');
    await expect(unlessAborted(Promise.resolve('done'), controller.signal)).rejects.toThrow('stopped');
  });
});
