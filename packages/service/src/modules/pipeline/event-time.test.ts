import { expect, it } from 'vitest';
import { WorkTimer } from './event-time.js';

it('leaves out what the thread waited for, and what others did with it', () => {
  const thread = { now: 0, waited: 0 };
  const pass = (ms: number, waitedMs = 0) => {
    thread.now += ms;
    thread.waited += waitedMs;
  };
  const timer = new WorkTimer({ nowMs: () => thread.now, waitedMs: () => thread.waited });
  pass(7);
  expect(timer.lapMs()).toBe(7);
  pass(30, 25);
  expect(timer.lapMs()).toBe(5);
  pass(10);
  expect(timer.lapMs()).toBe(10);
  // Another batch used the thread.
  pass(100, 40);
  timer.resume();
  pass(20);
  expect([timer.lapMs(), timer.atMs]).toEqual([20, 167]);
});
