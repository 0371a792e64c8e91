import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PacedNotice } from './paced-notice.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('the first notice goes at once, and those within the interval as one at its end', () => {
  const send = vi.fn();
  const notice = new PacedNotice(25, send);
  for (let count = 0; count < 3; count += 1) notice.notify();
  expect(send).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(25);
  expect(send).toHaveBeenCalledTimes(2);
  vi.advanceTimersByTime(25);
  notice.notify();
  expect(send).toHaveBeenCalledTimes(3);
  notice.notify();
  notice.stop();
  vi.advanceTimersByTime(100);
  expect(send).toHaveBeenCalledTimes(3);
});
